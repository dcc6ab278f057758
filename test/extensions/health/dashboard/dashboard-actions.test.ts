import { describe, expect, it } from 'vitest';
import { createPass } from '../../../../src/orders/create.ts';
import { readHolds } from '../../../../src/store/tables/account-holds.ts';
import { testOps, type TestOps } from '../../../support/ops-endpoint.ts';
import { withSettings } from '../../../support/settings.ts';
import { unguarded } from '../../../support/unguarded.ts';

const TOKEN = 'a-token-of-the-test';
const AUTHORIZATION = { authorization: `Basic ${Buffer.from(`kim:${TOKEN}`).toString('base64')}` };
const NEVER = new AbortController().signal;
const PERSON = { actor: 'kim', reason: 'the client asked' };

interface Sent {
  readonly form?: Readonly<Record<string, string>>;
  readonly origin?: string;
  readonly withToken?: boolean;
  /** Tells whether it comes with `ops.token`. */
  readonly isKnown?: boolean;
}

/** A dashboard on which a person may decide, the accounts that were woken, and what sends a form as a browser does. */
async function actionable(actions: 'on' | 'off' = 'on') {
  const woken: string[] = [];
  const on = await testOps({
    instead: ({ config, app }) => ({
      config: withSettings(config, { ops: { actions, token: TOKEN, listen: { host: '127.0.0.1', port: 0 } } }),
      heedDecision: async (account) => void woken.push(account),
      accounts: { names: [app.account] },
    }),
  });
  const get = async (path: string) => await on.get(path, AUTHORIZATION);
  const [, token = ''] = /name="token" value="([^"]+)"/.exec(await (await get('/pause')).text()) ?? [];
  const send = async (
    action: string,
    { form = {}, origin = on.ops.url ?? '', withToken = true, isKnown = true }: Sent = {},
  ) =>
    await fetch(`${on.ops.url}/actions/${action}`, {
      method: 'POST',
      headers: { ...(isKnown && AUTHORIZATION), origin, 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ account: 'default', ...PERSON, ...(withToken && { token }), ...form }),
      redirect: 'manual',
    });
  return { ...on, get, woken, send };
}

async function holdsOf({ program }: Pick<TestOps, 'program'>) {
  return await readHolds(program.app.store.db, 'default');
}

describe('a dashboard with ops.actions', () => {
  it('pauses and resumes as the commands do, by name and with a reason, and wakes the account', async () => {
    const on = await actionable();
    const paused = await on.send('pause', { form: { kind: 'all-paused' } });
    expect([paused.status, paused.headers.get('location')]).toEqual([303, '/pause?account=default']);
    expect(await holdsOf(on)).toMatchObject([{ kind: 'all-paused', actor: 'kim (dashboard)', reason: PERSON.reason }]);
    expect((await on.send('resume')).status).toBe(303);
    expect([await holdsOf(on), on.woken]).toEqual([[], ['default', 'default']]);
    expect((await on.send('resume')).status).toBe(409);
  });

  it('cancels an order that was not sent, and passes over one that has changed since it was shown', async () => {
    const on = await actionable();
    on.program.insert({ external_order_id: 'a/b' }, { external_order_id: 'sent' });
    const cancel = { judgement: 'cancel', state: 'pending', attempts: '0' };
    const done = await on.send('order', { form: { ...cancel, externalOrderId: 'a/b' } });
    expect([done.status, done.headers.get('location')]).toEqual([303, '/orders/a%2Fb?account=default']);
    expect(on.program.row('a/b')).toMatchObject({ state: 'cancelled' });
    await createPass(on.program.app, NEVER);
    expect((await on.send('order', { form: { ...cancel, externalOrderId: 'sent' } })).status).toBe(409);
    expect(on.program.row('sent')).toMatchObject({ state: 'accepted' });
  });

  it('passes over an order that is disputed for another reason than the page showed', async () => {
    const on = await actionable();
    on.program.insert({ external_order_id: 'a' });
    await createPass(on.program.app, NEVER);
    const disputed = `update merchant_orders set state = 'disputed', state_reason = 'another pair', revision = revision + 1`;
    unguarded(on.program.merchant, () => on.program.merchant.exec(disputed));
    const form = { externalOrderId: 'a', judgement: 'abandoned', state: 'disputed', attempts: '1' };
    expect((await on.send('order', { form: { ...form, stateReason: '"another amount"' } })).status).toBe(409);
    expect(on.program.row('a')).toMatchObject({ state: 'disputed' });
    expect((await on.send('order', { form: { ...form, stateReason: '"another pair"' } })).status).toBe(303);
    expect(on.program.row('a')).toMatchObject({ state: 'abandoned' });
  });

  it('acknowledges a finding with the values that the person was shown, and no other', async () => {
    const on = await actionable();
    on.program.merchant
      .exec(`insert into findings (account, class, severity, external_order_id, expected, actual, first_seen_at, last_seen_at)
      values ('default', 'AMOUNT_MISMATCH', 'error', 'a', '1', '2', '2026', '2026')`);
    const finding = (actual: string) => ({
      externalOrderId: 'a',
      finding: JSON.stringify({ id: 1, expected: '1', actual }),
    });
    expect((await on.send('findings', { form: finding('3') })).status).toBe(409);
    expect((await on.send('findings', { form: finding('2') })).status).toBe(303);
    const rows = on.program.merchant.prepare('select status, changed_by, reason from findings').all();
    expect(rows).toEqual([{ status: 'acknowledged', changed_by: 'kim (dashboard)', reason: PERSON.reason }]);
  });

  it.each<[string, Sent, number]>([
    ['without ops.token', { isKnown: false }, 401],
    ['without its token', { withToken: false }, 403],
    ['with another token', { form: { token: 'x'.repeat(43) } }, 403],
    ['from a page of another site', { origin: 'https://shop.example' }, 403],
    ['from a page without an address', { origin: 'null' }, 403],
    ['without a name', { form: { actor: ' ' } }, 400],
    ['without a reason', { form: { reason: '' } }, 400],
    ['with a reason without end', { form: { reason: 'x'.repeat(501) } }, 400],
    ['about an account that is not there', { form: { account: `"><script>` } }, 404],
    ['with another kind of pause', { form: { kind: 'key-refused' } }, 400],
  ])('changes nothing by a form %s', async (_name, sent, status) => {
    const on = await actionable();
    const answer = await on.send('pause', { ...sent, form: { kind: 'all-paused', ...sent.form } });
    expect([answer.status, await holdsOf(on), on.woken]).toEqual([status, [], []]);
    expect(await answer.text()).not.toContain('<script>');
  });

  it('has no form and takes none if ops.actions is off', async () => {
    const on = await actionable('off');
    on.program.insert({ external_order_id: 'a' });
    expect((await on.send('pause', { form: { kind: 'all-paused' } })).status).toBe(404);
    expect((await on.get('/pause')).status).toBe(404);
    for (const path of ['/', '/orders/a?account=default']) {
      expect(await (await on.get(path)).text()).not.toContain('method="post"');
    }
  });
});
