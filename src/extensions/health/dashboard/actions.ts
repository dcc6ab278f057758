import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { configOf } from '../../../settings/config.ts';
import { RESUMED_RESTRAINTS } from '../../../accounts/rules/restraints.ts';
import type { Judgement } from '../../operate/rules/judgement.ts';
import { messageOf } from '../../../base/text.ts';
import { pathId } from '../../../exchange/ids.ts';
import { decideOrders } from '../../operate/decide-orders.ts';
import { flowSettings } from '../../../orders/pass/deps.ts';
import { LONGEST_TEXT } from './forms.ts';
import { orderPath, pathTo } from './markup.ts';
import { endHolds, pause } from '../../../store/tables/account-holds.ts';
import { trackingOf } from '../../../store/orders/order-columns.ts';
import { readOrder } from '../../../store/orders/orders.ts';
import { isEqual } from '../../http/secret.ts';
import type { OpsSources } from '../ops/readings.ts';
import { findingsById, acknowledge } from '../../operate/tables/findings.ts';

const FORM = 'application/x-www-form-urlencoded';
const MOST_FINDINGS = 100;
const PAUSES = ['creates-paused', 'all-paused'] as const;

export class Refused extends Error {
  readonly httpStatus: number;
  readonly advice: string;

  constructor(httpStatus: number, message: string, advice = '') {
    super(message);
    this.httpStatus = httpStatus;
    this.advice = advice;
  }
}

interface Decision {
  readonly account: string;
  readonly by: { readonly actor: string; readonly reason: string };
  readonly form: URLSearchParams;
}

const ACTS: Readonly<Record<string, (deps: OpsSources, decision: Decision) => Promise<string>>> = {
  order: decideOrder,
  findings: acknowledgeFindings,
  pause: pauseAccount,
  resume: resumeAccount,
};

export function addActions(server: FastifyInstance, deps: OpsSources, accounts: readonly string[], token: string) {
  server.addContentTypeParser(FORM, { parseAs: 'string' }, (_request, body, done) =>
    done(null, new URLSearchParams(String(body))),
  );
  for (const [name, act] of Object.entries(ACTS)) {
    server.post(`/actions/${name}`, async ({ body }, reply) => {
      const decision = decisionOf(body, accounts, token);
      const path = await act(deps, decision);
      await deps.heedDecision(decision.account);
      return await reply.redirect(path, 303);
    });
  }
}

function decisionOf(form: unknown, accounts: readonly string[], token: string): Decision {
  if (!(form instanceof URLSearchParams)) throw new Refused(415, `Send a form: ${FORM}.`);
  if (!isEqual(form.get('token') ?? '', token)) {
    throw new Refused(403, 'This form is out of date.', 'Load its page again, and repeat the decision.');
  }
  const account = form.get('account') ?? '';
  if (!accounts.includes(account)) throw new Refused(404, 'The settings do not have this account.');
  return { account, by: { actor: `${plainText(form, 'actor')} (dashboard)`, reason: plainText(form, 'reason') }, form };
}

function plainText(form: URLSearchParams, name: string): string {
  const text = (form.get(name) ?? '').trim();
  if (text === '' || text.length > LONGEST_TEXT || !text.isWellFormed() || text.includes('\0')) {
    throw new Refused(400, `Enter 1 to ${LONGEST_TEXT} characters as the ${name === 'actor' ? 'name' : name}.`);
  }
  return text;
}

async function decideOrder(deps: OpsSources, { account, by, form }: Decision): Promise<string> {
  const { store, clock } = deps;
  const externalOrderId = form.get('externalOrderId') ?? '';
  const row = await readOrder(store.db, account, externalOrderId);
  if (row === undefined) throw new Refused(404, `The account ${account} has no order ${externalOrderId}.`);
  const now = trackingOf(row);
  // `decideOrders` passes over an order whose state, reason or number of attempts has changed since the page was made.
  const isReasonSeen = form.get('stateReason') === JSON.stringify(now.stateReason);
  const seen = {
    state: form.get('state') as typeof now.state,
    stateReason: isReasonSeen ? now.stateReason : null,
    attempts: Number(form.get('attempts')),
  };
  const config = configOf(deps.config, account);
  const settings = flowSettings(config, deps.makePaces?.(1)(config));
  const operator = { account, store: store.forAccount(account), clock, settings };
  const action = { judgement: judgementOf(form), ...by };
  for await (const result of decideOrders(operator, [{ externalOrderId, listed: { ...now, ...seen } }], action)) {
    if (result.kind === 'passed-over') throw new Refused(409, `Nothing was changed: ${result.why}.`);
  }
  return orderPath({ account, externalOrderId }) ?? '/';
}

function judgementOf(form: URLSearchParams): Judgement {
  const kind = form.get('judgement');
  if (kind === 'ours' || kind === 'abandoned' || kind === 'cancel') return { kind };
  if (kind === 'not-created' || kind === 'retry') return { kind, mayDuplicate: form.get('mayDuplicate') === 'yes' };
  if (kind !== 'exists') throw new Refused(400, 'Choose a decision.');
  const preOrderId = (form.get('preOrderId') ?? '').trim();
  try {
    pathId(preOrderId);
  } catch (error) {
    throw new Refused(400, `Enter the id of the pre-order: ${messageOf(error)}.`);
  }
  return { kind, preOrderId };
}

async function acknowledgeFindings({ store, clock }: OpsSources, { account, by, form }: Decision): Promise<string> {
  const seen = form.getAll('finding').slice(0, MOST_FINDINGS).map(seenFinding);
  if (seen.length === 0) throw new Refused(400, 'Choose a finding.');
  const ids = seen.map(({ id }) => id);
  const rows = await findingsById(store.db, account, ids);
  const how = { ...by, now: clock.now() };
  const unacknowledged = await store.forAccount(account).writer.write(async (tx) => {
    let count = 0;
    for (const { id, expected, actual } of seen) {
      const row = rows.find((one) => one.id === id);
      // The form has the values that the person saw. A finding that has changed since is not acknowledged.
      if (row === undefined || !(await acknowledge(tx, { ...row, expected, actual }, how))) count += 1;
    }
    return count;
  });
  if (unacknowledged > 0)
    throw new Refused(409, 'At least one finding was not acknowledged, because it has changed or is no longer open.');
  return orderPath({ account, externalOrderId: form.get('externalOrderId') ?? '' }) ?? '/';
}

const FINDING = z.object({ id: z.int(), expected: z.string().nullable(), actual: z.string().nullable() });

function seenFinding(text: string): z.infer<typeof FINDING> {
  try {
    return FINDING.parse(JSON.parse(text));
  } catch {
    throw new Refused(400, 'The form does not name a finding.');
  }
}

async function pauseAccount({ store, clock }: OpsSources, { account, by, form }: Decision): Promise<string> {
  const kind = PAUSES.find((one) => one === form.get('kind'));
  if (kind === undefined) throw new Refused(400, 'Choose what stops.');
  await store.forAccount(account).writer.write((tx) => pause(tx, account, kind, { ...by, now: clock.now() }));
  return pathTo('/pause', { account });
}

async function resumeAccount({ store, clock }: OpsSources, { account, by }: Decision): Promise<string> {
  const how = { ...by, now: clock.now() };
  const ended = await store.forAccount(account).writer.write((tx) => endHolds(tx, account, RESUMED_RESTRAINTS, how));
  if (ended.length === 0) throw new Refused(409, 'Nothing is paused.');
  return pathTo('/pause', { account });
}
