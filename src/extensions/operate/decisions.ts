import { z } from 'zod';
import { describeRestraint, RESUMED_RESTRAINTS, viewOf } from '../../accounts/rules/restraints.ts';
import { LONGEST_PLAIN_TEXT, quote } from '../../base/text.ts';
import { pathId } from '../../exchange/ids.ts';
import { decideOrder } from './decide-orders.ts';
import type { Judgement } from './rules/judgement.ts';
import type { Transaction, Work } from '../../store/port.ts';
import { endHolds, pause, readHolds } from '../../store/tables/account-holds.ts';
import { conflict, done, notFound, type Result } from '../api/envelope.ts';
import { decideOnce } from '../api/keyed/keyed-requests.ts';
import { DECISION_ERRORS, named, operation, textParameter, type CalledDeps } from '../api/operation.ts';
import { findingsById, acknowledge } from './tables/findings.ts';

const REASON = 'the exchange confirmed it';
const reason = z
  .string()
  .trim()
  .min(1)
  .max(LONGEST_PLAIN_TEXT)
  .refine((text) => text.isWellFormed() && !text.includes('\0'), 'expected text without NUL')
  .describe('Why; the history keeps it.');
const RESEND = 'Send it even if the exchange may have accepted the first request and may now make a second pre-order';
const mayDuplicate = z.boolean().optional().describe(`${RESEND}, as the option \`--i-know-it-may-duplicate\` does.`);
const ofDecision = { tag: 'decisions', errors: DECISION_ERRORS } as const;
const ofOrder = {
  ...ofDecision,
  params: z.object({ externalOrderId: textParameter('Id of the order in your system.', 'shop-1001') }),
  value: named(
    'Decided',
    'The states of the order before and after the decision.',
    z.object({ externalOrderId: z.string(), from: z.string(), to: z.string() }),
    { externalOrderId: 'shop-1001', from: 'held', to: 'accepted' },
  ),
} as const;

const findingId = z.coerce.number<string>().int().min(1);
const preOrderId = z.string().describe('Id of the pre-order of the order at the exchange.');
const resolution = z
  .discriminatedUnion('as', [
    z.strictObject({ as: z.literal('exists'), reason, preOrderId }),
    z.strictObject({ as: z.literal('not-created'), reason, mayDuplicate }),
    z.strictObject({ as: z.literal('ours'), reason }),
    z.strictObject({ as: z.literal('abandoned'), reason }),
  ])
  .describe('exists: follow it; not-created: send it again; ours: trust what the exchange has; abandoned: end it.')
  .meta({ examples: [{ as: 'exists', preOrderId: '5d1f', reason: REASON }] });

const since = '2026-01-05T12:00:00.000Z';
const HOLD = { kind: 'creates-paused', since, until: null, reason: REASON, actor: 'back-office' };
const heldBy = z.object({
  kind: z.string(),
  since: z.string(),
  until: z.string().nullable().describe('When single requests begin to test the hold; null if a person must end it.'),
  reason: z.string(),
  actor: z.string().nullable(),
});
const holds = z.object({ holds: z.array(heldBy) });
const holdsValue = named('Holds', 'The holds of the account: each stops some requests.', holds, { holds: [HOLD] });

/** Makes a decision, once for each idempotency key. Then the account reads its holds again and sends due orders. */
async function decide(deps: CalledDeps, asked: readonly unknown[], work: Work<Result>): Promise<Result> {
  const result = await decideOnce(deps, asked, work);
  if (result.kind !== 'ok') return result;
  // The decision is committed. If the holds cannot be read now, the account reads them later.
  await deps.restraints.read().catch(() => undefined);
  deps.wakeCreates();
  return result;
}

type Input = Readonly<{ externalOrderId: string; reason: string }>;

async function judge(deps: CalledDeps, { externalOrderId, reason: why }: Input, judgement: Judgement): Promise<Result> {
  const action = { judgement, reason: why, actor: deps.caller.name };
  return await decide(deps, [judgement, externalOrderId, why], async (tx) => {
    const result = await decideOrder(tx, deps, { externalOrderId }, action);
    if (result.kind === 'done') return done({ externalOrderId, from: result.from, to: result.to });
    if (result.state !== null) return conflict(result.why);
    return notFound(`there is no order ${quote(externalOrderId)} of the account ${deps.account}`);
  });
}

function judgementOf(input: z.output<typeof resolution>): Judgement {
  if (input.as === 'not-created') return { kind: input.as, mayDuplicate: input.mayDuplicate === true };
  if (input.as !== 'exists') return { kind: input.as };
  pathId(input.preOrderId);
  return { kind: input.as, preOrderId: input.preOrderId };
}

const holdsOf = async (tx: Transaction, account: string) => done({ holds: (await readHolds(tx, account)).map(viewOf) });
const by = ({ caller: { name }, clock }: CalledDeps, input: { readonly reason: string }) => {
  return { reason: input.reason, actor: name, now: clock.now() };
};

/** The decisions that commands such as `orders resolve` make too. The history names the caller as the actor. */
export const DECISIONS = {
  resolveOrder: operation({
    ...ofOrder,
    summary: 'Records what happened to an order that was sent, or ends it.',
    body: resolution,
    run: (deps, input) => judge(deps, input, judgementOf(input)),
  }),
  retryOrder: operation({
    ...ofOrder,
    summary: 'Sends a rejected, invalid, unknown or held order again.',
    body: z.strictObject({ reason, mayDuplicate }).meta({ examples: [{ reason: 'the currency is enabled now' }] }),
    run: (deps, input) => judge(deps, input, { kind: 'retry', mayDuplicate: input.mayDuplicate === true }),
  }),
  cancelOrder: operation({
    ...ofOrder,
    summary: 'Ends an order that was not sent yet.',
    body: z.strictObject({ reason }).meta({ examples: [{ reason: 'the client changed their mind' }] }),
    run: (deps, input) => judge(deps, input, { kind: 'cancel' }),
  }),
  acknowledgeFinding: operation({
    ...ofDecision,
    summary: 'Acknowledges an open finding; it stays until it is no longer true.',
    params: z.object({ id: findingId.meta({ description: 'Id of the finding.', examples: [12] }) }),
    body: z.strictObject({ reason }).meta({ examples: [{ reason: 'agreed with the exchange' }] }),
    value: named(
      'Acknowledged',
      'The finding.',
      z.object({ id: z.int(), class: z.string(), externalOrderId: z.string().nullable() }),
      { id: 12, class: 'AMOUNT_MISMATCH', externalOrderId: 'shop-1001' },
    ),
    run: (deps, input) =>
      decide(deps, ['acknowledge', input.id, input.reason], async (tx) => {
        const [row] = await findingsById(tx, deps.account, [input.id]);
        if (row === undefined) return notFound(`there is no finding ${input.id} of the account ${deps.account}`);
        if (!(await acknowledge(tx, row, by(deps, input)))) return conflict(`the finding ${input.id} is ${row.status}`);
        return done({ id: row.id, class: row.class, externalOrderId: row.external_order_id });
      }),
  }),
  pause: operation({
    ...ofDecision,
    summary: 'Stops creates of the account, or look-ups as well, until a person resumes.',
    body: z
      .strictObject({ what: z.enum(['creates', 'all']), reason })
      .meta({ examples: [{ what: 'creates', reason: 'maintenance at the exchange until 14:00' }] }),
    value: holdsValue,
    run: (deps, input) =>
      decide(deps, ['pause', input.what, input.reason], async (tx) => {
        const { account } = deps;
        const kind = `${input.what}-paused` as const;
        const stands = (await readHolds(tx, account)).find((hold) => hold.kind === kind);
        if (stands !== undefined) return conflict(describeRestraint(viewOf(stands), account));
        await pause(tx, account, kind, by(deps, input));
        return await holdsOf(tx, account);
      }),
  }),
  resume: operation({
    ...ofDecision,
    summary: 'Ends a pause, and the other holds on creates that a person may end.',
    body: z.strictObject({ reason }).meta({ examples: [{ reason: 'the maintenance is over' }] }),
    value: holdsValue,
    run: (deps, input) =>
      decide(deps, ['resume', input.reason], async (tx) => {
        const ended = await endHolds(tx, deps.account, RESUMED_RESTRAINTS, by(deps, input));
        return ended.length === 0 ? conflict('nothing is paused') : await holdsOf(tx, deps.account);
      }),
  }),
};
