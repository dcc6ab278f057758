import { accountsWithLinks } from '../../src/extensions/clients/tables/links.ts';
import { expect } from 'vitest';
import type { Overrides } from '../../src/app.ts';
import { BEGINNING, writeCursor, type FeedEvent } from '../../src/extensions/feed/event.ts';
import { OPERATIONS as CLIENTS } from '../../src/extensions/clients/operations.ts';
import { DECISIONS } from '../../src/extensions/operate/decisions.ts';
import { linksPass } from '../../src/extensions/clients/links.ts';
import { placeOf, readPage } from '../../src/extensions/feed/feed.ts';
import { sweep } from '../../src/findings/sweep.ts';
import { purgesOf } from './purges.ts';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { decideOrders, listTargets } from '../../src/extensions/operate/decide-orders.ts';
import { purgeAccount } from '../../src/extensions/intake/retention.ts';
import { syncOnce } from '../../src/orders/sync.ts';
import { dryRun } from '../../src/extensions/intake/dry-run.ts';
import { Webhooks } from '../../src/extensions/webhooks/webhooks.ts';
import type { AccountLease } from '../../src/store/port.ts';
import { accountsToSend, accountsToJudge, dueTimes } from '../../src/store/orders/due-times.ts';
import { accountsToPutRight } from '../../src/store/orders/wrong-due-times.ts';
import { newestEventId } from '../../src/store/tables/chain.ts';
import { feedHeads, newestOfOrder } from '../../src/extensions/feed/tables/events.ts';
import { listFindings } from '../../src/extensions/operate/tables/listed-findings.ts';
import { countWaiting } from '../../src/store/find-orders.ts';
import { listOrders, ORDER_SORTS } from '../../src/extensions/operate/tables/listed-orders.ts';
import { countMoves, recentSums, sumsAtStake } from '../../src/extensions/health/tables/sums.ts';
import { readOverview } from '../../src/extensions/health/tables/overview.ts';
import { moveWebhookCursor, registerEndpoint, readWebhooks } from '../../src/extensions/webhooks/tables/endpoints.ts';
import { deliverDeadLetter, listDeliveries, writeDeliveries } from '../../src/extensions/webhooks/tables/deliveries.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from './scripted-exchange.ts';
import { hastyClock } from './test-clock.ts';
import { scriptedProgram, type TestProgram } from './test-program.ts';
import { DAY, HOUR, MINUTE } from './tracking.ts';
import { unguarded } from './unguarded.ts';
import { endpointAt, webhookReceiver } from './webhooks.ts';
import { findingsOfOrder } from '../../src/extensions/operate/tables/findings.ts';

const NEVER = new AbortController().signal;

const CREATES: Readonly<Record<string, ScriptedAnswer>> = {
  refused: refusal(400),
  blocked: refusal(403),
  lost: 'reset',
};

/** The members of a lease that need no heartbeat in a process without others. */
const UNSHARED: Omit<AccountLease, 'account'> = {
  generation: 1,
  isTrusted: () => true,
  now: () => new Date(),
  lastOwnerUntil: undefined,
  differsIn: [],
  ending: NEVER,
  release: async () => {},
};

/** Has the program do all that it does by itself: starts, passes, sweeps, `sync`, and a decision of a person. */
export async function doEverything(overrides: Overrides = {}): Promise<TestProgram> {
  const { program, exchange } = await scriptedProgram({
    clock: hastyClock(),
    overrides,
    environment: { ORDER_SYNC_GUARD_CREATES_PER_HOUR: '1000' },
  });
  exchange.answer = (request) => {
    const { externalOrderId: id, method } = request;
    if (method === 'POST') return CREATES[id] ?? echo(request, { id });
    if (id === 'ended') return record(id, { status: 'COMPLETED', crypto: 'DONE' });
    return id === 'open' ? record(id) : NOT_FOUND;
  };
  program.insert(
    ...['refused', 'blocked', 'lost', 'ended', 'open', 'waiting', 'dying'].map((external_order_id) => ({
      external_order_id,
    })),
    { external_order_id: 'wrong', asset: 'x' },
  );
  program.merchant.exec(`insert into links (account, link_id, source, status, created_at, updated_at, last_checked_at)
    values ('default', 'l1', 'create', 'NOT_VERIFIED', '2026', '2026', '2026')`);
  await createPass(program.app, NEVER);
  for (const ms of [MINUTE, HOUR, DAY, 7 * DAY]) {
    program.clock.advance(ms);
    await createPass(program.app, NEVER);
    await followPass(program.app, 'due', NEVER);
    await followPass(program.app, 'all', NEVER);
    await sweep(program.app, NEVER);
  }
  await linksPass(program.app, NEVER);
  await purgeAccount(
    { ...program.app, purges: purgesOf(program.app, { keptAnswers: DAY, deadLetters: DAY, photos: DAY }) },
    'default',
    NEVER,
  );
  await dryRun({ ...program.app, config: program.config, now: program.clock.now(), rows: 1 });
  await countWaiting(program.app.store.db, { account: 'default', now: program.clock.now() });
  await dueTimes(program.app.store.db, ['a', 'z']);
  await accountsToSend(program.app.store.db, '');
  await accountsToPutRight(program.app.store.db, {
    accounts: ['a', 'z'],
    due: program.clock.now(),
    lease: program.clock.now(),
  });
  await accountsToJudge(program.app.store.db, ['a', 'z']);
  await accountsWithLinks(program.app.store.db, ['a', 'z']);
  const action = { actor: 'a', reason: 'r', judgement: { kind: 'abandoned' } } as const;
  await listTargets(program.app, { state: 'held', limit: 10 }, action);
  for (const state of ['held', 'final'] as const)
    await listOrders(program.app.store.db, { account: 'default', state, limit: 10 });
  await listEverything(program);
  await readEvents(program);
  await sendWebhooks(program);
  for (const account of ['default', undefined])
    await readOverview(program.app.store.db, {
      account,
      endpoints: [{ name: 'shop' }],
      drivenAccounts: [],
      now: program.clock.now(),
    });
  await readDashboard(program);
  const decided = await Array.fromAsync(decideOrders(program.app, [{ externalOrderId: 'waiting' }], action));
  expect(decided).toMatchObject([{ kind: 'done' }]);
  await askOnce(program);
  await program.app[Symbol.asyncDispose]();
  unguarded(program.merchant, () =>
    program.merchant
      .exec(`update merchant_orders set state = 'sending', next_action_at = '2099', revision = revision + 1
      where external_order_id in ('dying', 'open')`),
  );
  program.merchant.exec('update order_records set compared_at = null');
  await program.restart();
  await syncOnce(program.app, 'all', NEVER);
  return program;
}

/** Has requests with an `Idempotency-Key` made, repeated, refused and forgotten. */
async function askOnce({ app, clock }: TestProgram): Promise<void> {
  const caller = { name: 'shop', scopes: ['decide'], accounts: 'all' } as const;
  const deps = { ...app, wakeCreates: () => {}, caller, idempotencyKey: 'key' };
  for (const ms of [0, 0, 2 * DAY]) {
    clock.advance(ms);
    await DECISIONS.pause.run(deps, { what: 'creates', reason: 'r' });
    await CLIENTS.createLink.run({ ...deps, idempotencyKey: 'other' }, { email: 'a@b.example' });
    await DECISIONS.resume.run({ ...deps, idempotencyKey: 'third' }, { reason: 'r' });
  }
}

/** Has the feed read in each of its ways. */
async function readEvents({ app: { store } }: TestProgram): Promise<void> {
  const ofOrder = { account: 'default', externalOrderId: 'open' };
  const { head } = await readPage(store.db, { account: 'default', types: ['finding.opened'] }, BEGINNING, 10);
  await readPage(store.db, ofOrder, BEGINNING, 10);
  await newestOfOrder(store.db, { ...ofOrder, limit: 10 });
  await findingsOfOrder(store.db, { ...ofOrder, limit: 10 });
  await placeOf(store.db, 'default', writeCursor(head));
  for (const account of ['default', undefined]) await feedHeads(store.db, account);
}

/** Has the events sent to a receiver that refuses those of one order, and what it has refused read, sent again and ended. */
async function sendWebhooks({ app: { account, store, log }, clock }: TestProgram): Promise<void> {
  const endpoint = 'shop';
  const isOfOpen = ({ data }: FeedEvent) => 'externalOrderId' in data && data.externalOrderId === 'open';
  const receiver = await webhookReceiver((event) => (isOfOpen(event) ? 400 : 204));
  const deps = { endpoints: [endpointAt(receiver)], store: { ...store, forAccount: () => store }, clock, log };
  // Its first event is the first of all.
  await registerEndpoint(store.db, endpoint, clock.now());
  await moveWebhookCursor(store.db, { endpoint, account, eventId: 0 });
  for (const ms of [MINUTE, HOUR]) {
    const webhooks = new Webhooks({ ...deps, stop: NEVER });
    webhooks.take({ ...UNSHARED, account });
    await webhooks.begin();
    await webhooks.idle();
    clock.advance(ms);
    receiver.answer = () => 204;
    await webhooks.eachSecond();
    await webhooks.idle();
    await webhooks.eachSecond();
  }
  expect(new Set(receiver.taken.filter(isOfOpen)).size).toBeGreaterThan(1);
  const since = clock.now().toISOString();
  const refused = { attempts: 11, next_attempt_at: null, failed_at: since, answer: 400, since } as const;
  const letter = {
    ...refused,
    endpoint,
    account,
    event_id: 1,
    kind: 'order',
    subject: 'dead',
    status: 'dead',
  } as const;
  await writeDeliveries(store.db, { kept: [letter], ended: [], followed: [letter] });
  for (const status of ['retrying', 'dead'] as const) await listDeliveries(store.db, { endpoint, status, limit: 10 });
  await readWebhooks(store.db, deps.endpoints);
  await newestEventId(store.db, account);
  await deliverDeadLetter(store.db, { endpoint, account, eventId: 1, now: clock.now() });
}

/** Has the lists read by each of their filters. */
async function listEverything({ app: { store } }: TestProgram): Promise<void> {
  const [period, pair] = [
    { from: '2025', to: '2099' },
    { from: 'BTC', to: 'EUR' },
  ];
  for (const filter of [
    {},
    { ...period, pair },
    { state: 'final', pair },
    { class: 'STUCK', ...period },
    { class: 'SILENT_CHANGE', status: 'decided' },
    { order: { id: 'open', isPrefix: false }, status: 'undecided' },
    { order: { id: 'open', isPrefix: false } },
    { order: { id: 'o', isPrefix: true }, pair },
  ] as const) {
    const query = { account: 'default', limit: 10, ...filter };
    await listOrders(store.db, query);
    await listFindings(store.db, query);
    await listFindings(store.db, { ...query, status: 'open', after: { id: 1, severity: 'error' } });
    await listFindings(store.db, { ...query, after: { id: 1, severity: 'error' } });
    for (const sort of ORDER_SORTS) {
      const page = { ...query, sort, mostRead: 2, outcome: 'outcome_unknown' } as const;
      await listOrders(store.db, page);
      await listOrders(store.db, { ...page, after: { created_at: '2026', external_order_id: 'o' } });
    }
  }
}

async function readDashboard({ app }: Parameters<typeof listEverything>[0]): Promise<void> {
  await using snapshot = await app.store.snapshot();
  for (const digits of [13, 16]) await countMoves(app.store.db, 'default', { from: '2025', digits });
  await recentSums(snapshot.db, 'default', '2025');
  await sumsAtStake(snapshot.db, 'default', { state: 'held' });
  await sumsAtStake(snapshot.db, 'default', { class: 'SILENT_CHANGE', status: 'undecided' });
}
