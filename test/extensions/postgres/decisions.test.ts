import { describe, expect, it, onTestFinished } from 'vitest';
import { startApp } from '../../../src/app.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { requireExchange } from '../../../src/settings/config.ts';
import { loadConfig } from '../../support/settings.ts';
import type { Judgement } from '../../../src/extensions/operate/rules/judgement.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { decideOrders } from '../../../src/extensions/operate/decide-orders.ts';
import { endHolds, setHold } from '../../../src/store/tables/account-holds.ts';
import { grantNext } from '../../../src/store/tables/accounts.ts';
import { openStore } from '../../../src/extensions/postgres/store.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { openMerchant } from '../../support/merchant-postgres.ts';
import { openPostgresStore } from '../../support/postgres-store.ts';
import { echo, record, scriptedExchange } from '../../support/scripted-exchange.ts';

const ACCOUNT = 'default';
const IDS = Array.from({ length: 30 }, (_, index) => `shop-${index}`);

/** An owner of the account, and a person whose command is another process. */
async function ownerAndPerson() {
  const { database, place, store } = await openPostgresStore();
  const clock = systemClock();
  const person = await openStore(place, clock, { expect: 'current' });
  const merchant = openMerchant(database);
  const exchange = await scriptedExchange();
  const env = {
    ORDER_SYNC_DATABASE_URL: database.url,
    ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url,
    ORDER_SYNC_EXCHANGE_API_KEY: 'key',
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '100000',
  };
  const config = requireExchange(loadConfig({ env, cwd: temporaryFolder(), file: null, requireExchange: true }));
  const generations = await store.forAccount(ACCOUNT).writer.write((tx) => grantNext(tx, [ACCOUNT]));
  const accountLease = {
    account: ACCOUNT,
    generation: generations.get(ACCOUNT) ?? 0,
    isTrusted: () => true,
    now: () => clock.now(),
    lastOwnerUntil: undefined,
    differsIn: [],
    ending: new AbortController().signal,
    release: async () => {},
  };
  const app = await startApp(config, {
    store: store.forAccount(ACCOUNT, accountLease),
    accountLease,
    clock,
    log: capturedLog().logger,
  });
  onTestFinished(async () => {
    await app[Symbol.asyncDispose]();
    await person.close();
    await exchange[Symbol.asyncDispose]();
  });
  const insert = merchant.prepare(
    `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, '1.5', 'BTC', 'EUR')`,
  );
  for (const id of IDS) insert.run(id);
  const { settings } = app;
  const decide = async (judgement: Judgement) => {
    const action = { judgement, reason: 'r', actor: 'ada' };
    const deps = { account: ACCOUNT, store: person.forAccount(ACCOUNT), clock, settings };
    const results = new Map<string, string>();
    // The owner begins with the first, so that the two meet.
    for (const externalOrderId of IDS.toReversed()) {
      for await (const { kind } of decideOrders(deps, [{ externalOrderId }], action))
        results.set(externalOrderId, kind);
    }
    return results;
  };
  /** The states of an order, as its history has them; each change begins with the end of the last one. */
  const history = (id: string): string[] => {
    const changes = merchant
      .prepare(
        `select old_value, new_value from order_events where external_order_id = ? and field = 'state' order by id`,
      )
      .raw()
      .all(id) as [string, string][];
    for (const [index, [from]] of changes.entries()) if (index > 0) expect(from).toBe(changes[index - 1]?.[1]);
    return changes.map(([, to]) => to);
  };
  return { app, person: person.forAccount(ACCOUNT), exchange, merchant, decide, history };
}

const never = new AbortController().signal;

describe('a decision of a person at the moment at which the owner of the account writes', () => {
  it('cancels an order or comes too late; none is sent that was cancelled, none is lost', async () => {
    const { app, exchange, decide, history } = await ownerAndPerson();
    exchange.answer = (request) => echo(request);
    const [results] = await Promise.all([decide({ kind: 'cancel' }), createPass(app, never)]);
    await createPass(app, never);
    for (const id of IDS) {
      const sent = exchange.requests.filter((request) => request.externalOrderId === id).length;
      const states = history(id);
      if (results.get(id) === 'done') expect([id, sent, states]).toEqual([id, 0, ['cancelled']]);
      else expect([id, sent, states]).toEqual([id, 1, ['sending', 'accepted']]);
    }
  });

  it('abandons an order or comes too late; the record of the exchange is kept in any case', async () => {
    const { app, exchange, merchant, decide, history } = await ownerAndPerson();
    exchange.answer = (request) => echo(request);
    await createPass(app, never);
    exchange.answer = ({ externalOrderId }) =>
      record(externalOrderId, { status: 'REQUEST', id: `o-${externalOrderId}` });
    const [results] = await Promise.all([decide({ kind: 'abandoned' }), followPass(app, 'all', never)]);
    await followPass(app, 'all', never);
    const records = merchant.prepare('select count(*) from order_records').pluck().get();
    const done = IDS.filter((id) => results.get(id) === 'done').length;
    expect(records).toBeGreaterThanOrEqual(IDS.length - done);
    for (const id of IDS) {
      const states = history(id);
      const expected = results.get(id) === 'done' ? 'abandoned' : 'open';
      expect([id, states.includes(expected)]).toEqual([id, true]);
    }
  });

  it('pauses and resumes while results are written, and loses none of both', async () => {
    const { app, person, exchange, merchant } = await ownerAndPerson();
    exchange.answer = (request) => echo(request);
    const now = app.clock.now();
    const hold = { kind: 'creates-paused', since: now, until: null, reason: 'r', actor: 'ada' } as const;
    const toggling = async () => {
      for (let round = 0; round < 10; round += 1) {
        await person.writer.write((tx) => setHold(tx, ACCOUNT, hold, now));
        await person.writer.write((tx) =>
          endHolds(tx, ACCOUNT, ['creates-paused'], { reason: 'r', actor: 'ada', now }),
        );
      }
    };
    await Promise.all([toggling(), createPass(app, never)]);
    expect(merchant.prepare(`select count(*) from merchant_orders where state = 'accepted'`).pluck().get()).toBe(30);
    const chained = merchant.prepare('select previous_hash, hash from events order by id').raw().all() as [
      string,
      string,
    ][];
    expect(chained.length).toBe(30 * 2 + 20);
    for (const [index, [previous]] of chained.entries()) if (index > 0) expect(previous).toBe(chained[index - 1]?.[1]);
  });
});
