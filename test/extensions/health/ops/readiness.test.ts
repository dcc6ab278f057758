import { describe, expect, it } from 'vitest';
import { createPass } from '../../../../src/orders/create.ts';
import { STALLED_AFTER_MS } from '../../../../src/extensions/health/status/problems.ts';
import { recordStop } from '../../../../src/store/tables/account-stops.ts';
import { isSqlite } from '../../../support/database.ts';
import { testOps, type TestOps } from '../../../support/ops-endpoint.ts';

/** The status of /readyz, and what is not well. */
async function readyz({ get }: TestOps): Promise<readonly [number, ...string[]]> {
  const answer = await get('/readyz');
  const { checks } = (await answer.json()) as { checks: { check: string; ok: boolean }[] };
  return [answer.status, ...checks.filter(({ ok }) => !ok).map(({ check }) => check)];
}

describe('/readyz', () => {
  it('answers 200 while all is well', async () => {
    expect(await readyz(await testOps())).toEqual([200]);
  });

  it('answers 503 when the database is not in its place', async () => {
    const moved = await testOps({ instead: ({ app }) => ({ store: { ...app.store, isInPlace: () => false } }) });
    expect(await readyz(moved)).toEqual([503, 'database']);
  });

  it('answers 503 while none of its accounts is owned, unless other workers may own them', async () => {
    const waiting = await testOps({ instead: () => ({ accounts: { names: [] } }) });
    expect(await readyz(waiting)).toEqual(isSqlite() ? [503, 'ownership'] : [200]);
  });

  it('answers 503 while the lease of its account could not be renewed', async () => {
    const on = await testOps();
    if (on.activity.live !== undefined)
      on.activity.live = { ...on.activity.live, accountLease: { isTrusted: () => false } };
    expect(await readyz(on)).toEqual([503, 'ownership']);
  });

  it('answers 503 within some seconds when the database does not answer', async () => {
    const on = await testOps({
      instead: ({ app }) => ({ store: { ...app.store, db: hanging(app.store.db) } }),
    });
    const answer = readyz(on);
    let status: unknown;
    void answer.then((given) => (status = given));
    while (status === undefined) {
      on.program.clock.advance(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await answer).toEqual([503, 'database']);
  });

  it('answers 503 while the exchange refuses the key', async () => {
    const on = await testOps({ apiKey: 'canary-wrong-key' });
    on.program.insert({ external_order_id: 'a' });
    await createPass(on.program.app, new AbortController().signal);
    expect(await readyz(on)).toEqual([503, 'key']);
    // While the account is not wired, its holds stand in the database, once earlier requests are written.
    on.activity.close();
    await on.program.app.store.writer.write(async () => {});
    on.program.clock.advance(1_000);
    expect(await readyz(on)).toEqual([503, 'key']);
    expect(JSON.stringify(await (await on.get('/readyz')).json())).not.toContain('canary');
  });

  it('answers 503 while an account is stopped, which the metrics and the dashboard tell too', async () => {
    const on = await testOps();
    const { writer } = on.program.app.store;
    const now = on.program.clock.now();
    const stopped = async () =>
      /order_sync_account_stopped\{.*\} (\d)/.exec(await (await on.get('/metrics')).text())?.[1];
    expect(await stopped()).toBe('0');
    const stop = { kind: 'older-state', reason: 'the database is older than its mark', actor: null, now } as const;
    await writer.write((tx) => recordStop(tx, 'default', stop));
    on.program.clock.advance(10_000);
    expect(await readyz(on)).toEqual([503, 'stopped']);
    expect(JSON.stringify(await (await on.get('/readyz')).json())).toContain('order-sync db accept-restore');
    expect(await stopped()).toBe('1');
    const page = await (await on.get('/')).text();
    expect(page).toContain('Stopped: no orders are created or looked up');
    expect(page).toContain('order-sync db accept-restore');
    expect(page).not.toContain('continues by itself');
    // No process, but a person ends the stop of an older state.
    for (const actor of [null, 'ann']) {
      await writer.write((tx) => recordStop(tx, 'default', { kind: null, reason: 'r', actor, now }));
      on.program.clock.advance(10_000);
      expect(await readyz(on)).toEqual(actor === null ? [503, 'stopped'] : [200]);
    }
  });

  it('answers 503 when work waits and nothing is done, and 200 once a request is answered', async () => {
    const on = await testOps();
    on.activity.hear({ kind: 'pass.wanted', pass: 'create' });
    on.program.clock.advance(STALLED_AFTER_MS + 1_000);
    expect(await readyz(on)).toEqual([503, 'passes']);
    on.activity.hear({ kind: 'request.left' });
    on.activity.hear({ kind: 'request.ended', operation: 'look_up_order', outcome: 'ok', tookMs: 5, isAnswered: true });
    on.program.clock.advance(2_000);
    expect(await readyz(on)).toEqual([200]);
  });
});

/** A database whose statements never end. */
function hanging<Db extends object>(db: Db): Db {
  return new Proxy(db, {
    get: (target, name) => {
      if (name === 'selectFrom') return () => hangingQuery;
      return Reflect.get(target, name) as unknown;
    },
  });
}

const hangingQuery: unknown = new Proxy(() => hangingQuery, {
  get: (_target, name) => {
    if (name === 'execute' || name === 'executeTakeFirst') return async () => await new Promise(() => {});
    return name === 'then' ? undefined : hangingQuery;
  },
  apply: () => hangingQuery,
});
