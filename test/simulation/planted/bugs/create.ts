import type { PlantedBug } from '../bug.ts';

const DECIDE = 'src/orders/rules/create.ts';
const FLOW = 'src/orders/create.ts';

/** Bugs in checking and sending orders, and in deciding what came of it. */
export const CREATE_BUGS: readonly PlantedBug[] = [
  {
    name: 'amount-through-a-float',
    text: 'the amount goes through a binary number',
    breaks: /amount exact/,
    edits: [
      {
        file: 'src/orders/rules/check.ts',
        in: 'readAsset',
        from: '? reading :',
        to: '? { ok: true, text: String(Number(reading.text)) } :',
      },
    ],
  },
  {
    name: 'unknown-is-sent-again',
    text: 'an unknown outcome counts as a known failure',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: DECIDE,
        in: 'decideCreated',
        from: 'return [becomesUnknown(tracking, outcome.why, now, settings)];',
        to: 'return [pendingAgain(outcome.why, 0)];',
      },
    ],
  },
  {
    name: 'attempt-is-not-counted',
    text: 'the number of attempts is raised after the answer, and not with the intent',
    breaks: /no order of ours is disputed|no bug/,
    edits: [
      {
        file: DECIDE,
        in: 'decideClaim',
        from: 'attempts: tracking.attempts + 1,',
        to: 'attempts: tracking.attempts,',
      },
    ],
  },
  {
    name: 'late-answer-is-dropped',
    text: 'an answer that accepts an order is dropped if the order is no longer `sending`',
    breaks: /everything settles or is held/,
    notCaught:
      'only one process at a time has the generation to record outcomes, and no person may move an order whose create is in flight',
    edits: [
      {
        file: DECIDE,
        in: 'decideCreated',
        from: "if (outcome.kind === 'accepted') return",
        to: "if (outcome.kind === 'accepted' && tracking.state !== 'sending') return [];\n  if (outcome.kind === 'accepted') return",
      },
    ],
  },
  {
    name: 'request-before-intent',
    text: 'the request leaves before the intent is durable',
    breaks: /intent before send|unknown is never re-sent/,
    edits: [
      {
        file: FLOW,
        in: 'trySending',
        from: 'const claimed = await claim(deps, externalOrderId, create, guarded);',
        to: `const row = await lockFreeOrder(deps.store.db as never, deps.account, externalOrderId);
  const decided = row && decideClaim(trackingOf(row), uncheckedOrderOf(row), deps.clock.now());
  const sending = decided?.kind === 'send' ? exchange.createPreOrder(decided.order, turn) : undefined;
  const claimed = await claim(deps, externalOrderId, create, guarded);
  if (sending === undefined) return undefined;`,
      },
      {
        file: FLOW,
        in: 'trySending',
        from: 'await exchange.createPreOrder(claimed.order, turnToSend, isForbiddenAlone);',
        to: 'await sending;',
      },
    ],
  },
  {
    name: 'turn-after-the-intent',
    text: 'the turn at the gate is taken after the intent is recorded',
    breaks: /backlog bounded/,
    edits: [
      {
        file: FLOW,
        in: 'trySending',
        from: `using turn = await exchange.turnToCreate(externalOrderId, signal);
  if (turn === undefined) return undefined;`,
        to: '',
      },
      {
        file: FLOW,
        in: 'trySending',
        from: 'using turnToSend = await turnOnceReplicated(deps, turn, externalOrderId, signal);',
        to: 'using turnToSend = await exchange.turnToCreate(externalOrderId, signal);',
      },
    ],
  },
  {
    name: 'corrected-row-stays-invalid',
    text: 'the pass does not look for rows that were corrected',
    breaks: /everything settles/,
    edits: [
      {
        file: FLOW,
        in: 'toSend',
        from: "dueIn(deps, 'invalid', signal)",
        to: "dueIn(deps, 'rejected' as 'invalid', signal)",
      },
    ],
  },
  {
    name: 'in-flight-is-sent-again',
    text: 'a person may have an order sent again while its request is in flight',
    breaks: /no order is created twice|unknown is never re-sent|intent before send|no bug/,
    edits: [
      {
        file: 'src/extensions/operate/rules/judgement.ts',
        in: 'TARGETS',
        from: "retry: { unknown: 'pending',",
        to: "retry: { sending: 'pending', unknown: 'pending',",
      },
    ],
  },
  {
    name: 'decision-without-its-person',
    text: "a person's decision is recorded as one of the program",
    breaks: /each decision recorded once|a person decides/,
    edits: [
      {
        file: 'src/extensions/operate/rules/judgement.ts',
        in: 'decideByOperator',
        from: "const how = { source: 'operator',",
        to: "const how = { source: 'create' as 'operator',",
      },
    ],
  },
  {
    name: 'token-in-the-log',
    text: 'the log line of an accepted create bears the whole pre-order',
    breaks: /secrets stay in/,
    edits: [
      {
        file: 'src/orders/pass/outcomes.ts',
        in: 'tellCreate',
        from: 'log.info({ externalOrderId, preOrderId: outcome.preOrder.id },',
        to: 'log.info({ externalOrderId, preOrder: outcome.preOrder },',
      },
    ],
  },
  {
    name: 'pre-order-id-is-not-kept',
    text: 'an accepted order is stored without the id of its pre-order',
    breaks: /no order is lost/,
    edits: [{ file: DECIDE, in: 'accepted', from: 'const changes = { preOrderId,', to: 'const changes = {' }],
  },
  {
    name: 'one-order-stops-the-pass',
    text: 'a write of one order that the database refuses ends the pass',
    breaks: /no bug|no order waits for another/,
    edits: [
      {
        file: 'src/orders/pass/isolate.ts',
        in: 'isolateFailure',
        from: 'if (!isRefusal(error)) throw error;',
        to: 'throw error;',
      },
    ],
  },
  {
    name: 'intent-is-not-read-again',
    text: 'the row of an intent is not read again before the commit, so a trigger may have undone it',
    breaks: /intent before send|unknown is never re-sent|no order is created twice/,
    edits: [
      { file: 'src/store/orders/intents.ts', in: 'assertIntents', from: 'column !== undefined', to: 'column === null' },
    ],
  },
];
