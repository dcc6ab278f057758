import type { PlantedBug } from '../bug.ts';

const LEASE = 'src/flows/pass/lease.ts';
const HOLDS = 'src/flows/pass/holds.ts';
const DECIDE_HOLDS = 'src/domain/accounts/holds.ts';

/** Bugs in what one owner of an account leaves to the next: the rate, holds, orders in flight, the generation. */
export const OWNER_BUGS: readonly PlantedBug[] = [
  {
    name: 'rate-forgotten-at-restart',
    text: 'what the last owner was granted does not count against the rate',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'spentByLastOwner',
        from: 'spent: [...spent, ...granted(lease, at(lease.until), holding.lastOwnerUntil, limit)]',
        to: 'spent',
      },
    ],
  },
  {
    name: 'spent-requests-forgotten-at-restart',
    text: 'a lease tells what was granted, and not what was sent before it in the window',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'RequestLease.#writeWithin',
        from: 'ended.map((spent) => ({ at: after(now, spent.at - monotonic), requests: spent.requests }))',
        to: 'ended.slice(ended.length)',
      },
    ],
  },
  {
    name: 'running-requests-forgotten-at-restart',
    text: 'a lease does not count the requests that are under way as it is written',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'RequestLease.#writeWithin',
        from: 'requests: running + requests,',
        to: 'requests,',
      },
    ],
  },
  {
    name: 'lease-is-not-used-up',
    text: 'requests are not counted off the lease that they leave under',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'RequestLease.ensure',
        from: 'this.#started += 1;',
        to: '',
      },
    ],
  },
  {
    name: 'stopped-owner-is-over',
    text: 'requests that a stopped process had begun do not count once its heartbeat is over',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'granted',
        from: 'if (lastOwnerUntil === undefined)',
        to: 'if (lastOwnerUntil !== null)',
      },
    ],
  },
  {
    name: 'recovery-sends-again',
    text: 'an order that is found `sending` at the start is pending again',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: 'src/flows/orders/recover.ts',
        in: 'sendingBecomesUnknown',
        from: 'await saveDecision(tx, before, unknown, now);',
        to: `const [event] = unknown.events;
    const tracking = { ...unknown.tracking, state: 'pending' as const };
    if (event !== undefined) await saveDecision(tx, before, { tracking, events: [{ ...event, newValue: 'pending' }] }, now);`,
      },
    ],
  },
  {
    name: 'in-flight-is-recovered',
    text: 'an order whose create is in flight is taken for one whose outcome could not be written',
    breaks: /a person decides/,
    edits: [
      {
        file: 'src/flows/orders/recover.ts',
        in: 'recoverUnrecorded',
        from: 'sending.filter((one) => !inFlight.has(one))',
        to: 'sending',
      },
      {
        file: 'src/flows/orders/recover.ts',
        in: 'recoverOne',
        from: ' || inFlight.has(externalOrderId)',
        to: '',
      },
    ],
  },
  {
    name: 'unrecorded-is-left-sending',
    text: 'an order whose outcome could not be written is left to the next start',
    breaks: /everything settles or is held/,
    edits: [
      {
        file: 'src/flows/orders/create.ts',
        in: 'createPass',
        from: 'await recoverUnrecorded(deps);',
        to: '',
      },
    ],
  },
  {
    name: 'sent-counts-as-never-sent',
    text: 'that a request has left is kept nowhere: where its outcome cannot be written, it is sent again',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: 'src/flows/pass/in-flight.ts',
        in: 'CreatesInFlight.begin',
        from: `leaves: () => {
        isUnsent = false;`,
        to: 'leaves: () => {',
      },
    ],
  },
  {
    name: 'pause-forgotten-at-restart',
    text: 'the holds of the account are read when another program commits, and not at the start',
    breaks: /a pause is kept/,
    edits: [{ file: 'src/app.ts', in: 'startApp', from: 'await holds.open();', to: '' }],
  },
  {
    name: 'pause-read-only-at-the-start',
    text: 'a pause that a person sets is heeded by the next process',
    breaks: /a pause is kept/,
    edits: [
      {
        file: HOLDS,
        in: 'AccountHolds.read',
        from: '[...stored.filter(({ until }) => until === null), ...own]',
        to: '[...this.#holds.filter(({ until }) => until === null), ...own]',
      },
    ],
  },
  {
    name: 'shortest-hold-decides',
    text: 'of several holds the one that ends first decides',
    breaks: /a pause is kept/,
    edits: [{ file: DECIDE_HOLDS, in: 'decideSending', from: 'endOf(b) - endOf(a)', to: 'endOf(a) - endOf(b)' }],
  },
  {
    name: 'pause-of-all-lets-look-ups-go',
    text: 'a pause of everything stops creates alone',
    breaks: /a pause is kept/,
    edits: [
      { file: DECIDE_HOLDS, in: 'STOPS', from: "'all-paused': ['create', 'lookup'],", to: "'all-paused': ['create']," },
    ],
  },
  {
    name: 'late-owner-goes-on',
    text: 'an owner that wakes late does not see that another one has followed it',
    breaks: /rate kept|a person decides|unknown is never re-sent/,
    edits: [
      {
        file: LEASE,
        in: 'RequestLease.ensure',
        from: '!this.#deps.holding.isTrusted()',
        to: 'this.#deps.holding.generation < 0',
      },
      { file: LEASE, in: 'RequestLease.#trust', from: '!holding.isTrusted()', to: 'holding.generation < 0' },
      {
        file: 'src/store/accounts.ts',
        in: 'assertNewestOwner',
        from: 'rows[0]?.generation !== generation',
        to: '(rows[0]?.generation ?? 0) < generation',
      },
      {
        file: 'src/store/postgres/writer.ts',
        in: 'AccountTransactions.#lockAccount',
        from: 'and generation = ${generation} ${isLast}',
        to: 'and generation >= ${generation}',
      },
    ],
  },
  {
    name: 'clock-set-back-is-not-noticed',
    text: 'that the clock was set back is looked for with the wrong sign',
    breaks: /everything settles or is held|no order is lost/,
    edits: [
      {
        file: 'src/flows/orders/clock-watch.ts',
        in: 'ClockWatch.correct',
        from: 'aheadMs < this.#aheadMs - SET_BACK_MS',
        to: 'aheadMs > this.#aheadMs + SET_BACK_MS',
      },
    ],
  },
  {
    name: 'hold-in-memory-only',
    text: 'the hold that an answer sets is not written',
    breaks: /Retry-After/,
    edits: [{ file: HOLDS, in: 'AccountHolds.note', from: 'void this.#write(change, facts);', to: '' }],
  },
  {
    name: 'answer-in-flight-ends-the-wait',
    text: 'an answer to a request that left before a 429 ends the wait that it asks for',
    breaks: /Retry-After/,
    edits: [
      {
        file: DECIDE_HOLDS,
        in: 'isEndedBy',
        from: 'return until !== null && askedAt >= until;',
        to: 'return until !== null;',
      },
    ],
  },
  {
    name: 'hold-by-the-clock-on-the-wall',
    text: 'holds are kept by the clock that a person sets',
    breaks: /Retry-After|everything settles/,
    edits: [
      {
        file: HOLDS,
        in: 'AccountHolds.now',
        from: 'return new Date(this.#began.at + Math.floor(this.#deps.clock.monotonic() - this.#began.monotonic));',
        to: 'return this.#deps.clock.now();',
      },
    ],
  },
  {
    name: 'guard-forgets-at-restart',
    text: 'what was sent in the last hour does not count against `guard.*` after a restart',
    breaks: /guard/,
    edits: [{ file: 'src/app.ts', in: 'openGuard', from: 'await guard.open(deps.store.db);', to: '' }],
  },
  {
    name: 'guard-off-by-one',
    text: 'one create more than `guard.createsPerHour` goes',
    breaks: /guard/,
    edits: [
      {
        file: 'src/domain/accounts/guard.ts',
        in: 'CreateWindow.decide',
        from: 'creates + 1 > createsPerHour)',
        to: 'creates > createsPerHour)',
      },
    ],
  },
  {
    name: 'holds-of-another-account',
    text: 'the holds of all accounts bind each of them',
    breaks: /no account waits for another/,
    edits: [
      {
        file: 'src/store/account-holds.ts',
        in: 'holdsStatement',
        from: ".where('account', '=', v.account)",
        to: '',
      },
    ],
  },
  {
    name: 'facts-of-another-account',
    text: 'what is known of one account is read for another: the merchant, say',
    breaks: /no order of ours is disputed|no account/,
    edits: [
      {
        file: 'src/store/accounts.ts',
        in: 'factStatement',
        from: ".where('account', '=', v.account)",
        to: '',
      },
    ],
  },
];
