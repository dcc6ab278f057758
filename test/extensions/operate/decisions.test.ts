import { describe, expect, it, vi } from 'vitest';
import { StoreError } from '../../../src/store/errors.ts';
import { runProgram } from '../../support/cli-function.ts';
import { controlSocket, failureIn, type ServedSocket, type SocketAnswer } from '../../support/control-socket.ts';
import { settingsOf } from '../../support/test-program.ts';
import { unguarded } from '../../support/unguarded.ts';

const R = { reason: 'the exchange said so' };
const IDS = [
  'a',
  'adopt',
  'a/b',
  'a%2Fb',
  'a?b#c&d',
  '..',
  ' a ',
  'é',
  'e\u0301',
  '😀',
  "a'b",
  'a\nb',
  'x'.repeat(1_000),
];

async function withOrders(states: Readonly<Record<string, string>>) {
  const on = await controlSocket();
  const { program } = on;
  const move = program.merchant.prepare(
    'update merchant_orders set revision = revision + 1, state = ?, sent_at = ? where external_order_id = ?',
  );
  for (const id of Object.keys(states)) program.insert({ external_order_id: id });
  unguarded(program.merchant, () => {
    for (const [id, state] of Object.entries(states)) move.run(state, '2026-01-02T00:00:00.000Z', id);
  });
  return on;
}

const valueIn = ({ status, text }: SocketAnswer) => [status, (JSON.parse(text) as { value?: unknown }).value];
const problemIn = (answer: SocketAnswer) => [answer.status, failureIn(answer).kind, failureIn(answer).reason];
const decisions = ({ program }: ServedSocket) =>
  program.merchant
    .prepare(`select subject, new_value, reason, actor from events where source = 'operator' order by id`)
    .all();

describe('a decision about an order', () => {
  it.each<[string, string, object, string]>([
    ['held', 'resolve', { as: 'exists', preOrderId: 'p9' }, 'accepted'],
    ['held', 'resolve', { as: 'not-created', mayDuplicate: true }, 'pending'],
    ['accepted', 'resolve', { as: 'abandoned' }, 'abandoned'],
    ['rejected', 'retry', {}, 'pending'],
    ['held', 'retry', { mayDuplicate: true }, 'pending'],
    ['pending', 'cancel', {}, 'cancelled'],
  ])('moves what is %s by %s %j, and is recorded under the name of the caller', async (state, what, input, to) => {
    const on = await withOrders({ a: state });
    expect(valueIn(await on.ask('POST', `/orders/a/${what}`, { ...input, ...R, reason: ' why ' }))).toEqual([
      200,
      { externalOrderId: 'a', from: state, to },
    ]);
    expect(on.program.row('a')['state']).toBe(to);
    expect(decisions(on).at(-1)).toEqual({ subject: 'a', new_value: to, reason: 'why', actor: 'control socket' });
    expect(on.wakes()).toBe(1);
  });

  it.each<[string, string, object]>([
    ['held', 'retry', {}],
    ['final', 'retry', { mayDuplicate: true }],
    ['held', 'resolve', { as: 'not-created' }],
    ['open', 'resolve', { as: 'ours' }],
    ['disputed', 'resolve', { as: 'ours' }],
    ['open', 'cancel', {}],
    ['cancelled', 'cancel', {}],
  ])('is refused with 409 if it cannot be made as the order stands: %s, %s %j', async (state, what, input) => {
    const on = await withOrders({ a: state });
    const answer = await on.ask('POST', `/orders/a/${what}`, { ...input, ...R });
    expect(problemIn(answer)).toEqual([409, 'invalid', 'conflict']);
    expect([on.program.row('a')['state'], decisions(on), on.wakes()]).toEqual([state, [], 0]);
  });

  it('is refused with 404 if there is no such order, with 400 for what is no decision, and with 421 elsewhere', async () => {
    const on = await withOrders({ a: 'held' });
    expect(problemIn(await on.ask('POST', '/orders/b/cancel', R))).toEqual([404, 'invalid', 'not-found']);
    const unusable = { as: 'exists', preOrderId: '..', ...R };
    expect(problemIn(await on.ask('POST', '/orders/a/resolve', unusable))).toEqual([400, 'unusable', null]);
    for (const reason of ['', '  ', 'a\0', '\ud800', 'x'.repeat(501)])
      expect(problemIn(await on.ask('POST', '/orders/a/cancel', { reason }))).toEqual([400, 'invalid', null]);
    expect((await on.ask('POST', '/orders/a/cancel?account=other', R)).status).toBe(421);
    expect(on.program.row('a')['state']).toBe('held');
  });

  it.each(IDS)('reaches the order that it names, and so do all that read it: %j', async (id) => {
    const on = await withOrders({ [id]: 'pending', other: 'pending' });
    const path = `/orders/${encodeURIComponent(id)}`;
    expect(valueIn(await on.ask('GET', path))).toMatchObject([200, { order: { external_order_id: id } }]);
    expect(valueIn(await on.ask('GET', `${path}/explanation`))).toMatchObject([200, { externalOrderId: id }]);
    const cancelled = { externalOrderId: id, from: 'pending', to: 'cancelled' };
    expect(valueIn(await on.ask('POST', `${path}/cancel`, R))).toEqual([200, cancelled]);
    expect([on.program.row(id)['state'], on.program.row('other')['state']]).toEqual(['cancelled', 'pending']);
  });

  it('is answered as made if the process cannot read what it has changed', async () => {
    const on = await withOrders({ a: 'pending' });
    vi.spyOn(on.program.app.restraints, 'read').mockRejectedValue(new StoreError('busy', 'the database is locked'));
    expect(await on.ask('POST', '/orders/a/cancel', R)).toMatchObject({ status: 200 });
  });

  it('is made once a key, and says of the kept answer that it is one', async () => {
    const on = await withOrders({ a: 'pending' });
    const headers = { 'idempotency-key': 'canary-key' };
    const first = await on.ask('POST', '/orders/a/cancel', R, { headers });
    const again = await on.ask('POST', '/orders/a/cancel', R, { headers });
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect([first, again].map((answer) => answer.headers['idempotent-replayed'])).toEqual([undefined, 'true']);
    const other = await on.ask('POST', '/orders/a/cancel', { reason: 'canary' }, { headers });
    expect(problemIn(other)).toEqual([422, 'invalid', 'key-reused']);
    expect(JSON.stringify(on.log.lines) + other.text).not.toContain('canary');
  });
});

describe('acknowledging a finding', () => {
  it('is done once, by the id of the finding', async () => {
    const on = await withOrders({ a: 'open' });
    on.program.merchant
      .exec(`insert into findings (account, class, severity, external_order_id, first_seen_at, last_seen_at)
      values ('default', 'STUCK', 'warning', 'a', '2026', '2026')`);
    const acknowledged = { id: 1, class: 'STUCK', externalOrderId: 'a' };
    expect(valueIn(await on.ask('POST', '/findings/1/acknowledge', R))).toEqual([200, acknowledged]);
    expect(on.program.merchant.prepare('select status, changed_by, reason from findings').all()).toEqual([
      { status: 'acknowledged', changed_by: 'control socket', ...R },
    ]);
    expect(problemIn(await on.ask('POST', '/findings/1/acknowledge', R))).toEqual([409, 'invalid', 'conflict']);
    expect(problemIn(await on.ask('POST', '/findings/2/acknowledge', R))).toEqual([404, 'invalid', 'not-found']);
    for (const id of ['x', '0', '-1', '1.5', '9007199254740993', ''])
      expect(problemIn(await on.ask('POST', `/findings/${id}/acknowledge`, R))).toEqual([400, 'invalid', null]);
  });
});

describe('a pause', () => {
  it('stands until it is resumed, and the process heeds both at once', async () => {
    const on = await withOrders({});
    const { restraints } = on.program.app;
    const hold = { kind: 'all-paused', until: null, actor: 'control socket', ...R };
    const paused = await on.ask('POST', '/pause', { what: 'all', ...R });
    expect(valueIn(paused)).toMatchObject([200, { holds: [hold] }]);
    expect(restraints.all).toMatchObject([{ kind: 'all-paused' }]);
    expect(problemIn(await on.ask('POST', '/pause', { what: 'all', reason: 'r' }))).toEqual([
      409,
      'invalid',
      'conflict',
    ]);
    expect(valueIn(await on.ask('POST', '/pause', { what: 'creates', ...R }))).toMatchObject([
      200,
      { holds: [{}, {}] },
    ]);
    expect(valueIn(await on.ask('POST', '/resume', { reason: 'over' }))).toEqual([200, { holds: [] }]);
    expect(restraints.all).toEqual([]);
    expect(problemIn(await on.ask('POST', '/resume', R))).toEqual([409, 'invalid', 'conflict']);
    expect(decisions(on)).toMatchObject([{}, {}, { actor: 'control socket', reason: 'over' }, { reason: 'over' }]);
  });
});

describe('the explanation of an order', () => {
  it('is what orders explain --json prints', async () => {
    const on = await withOrders({ a: 'pending' });
    await on.ask('POST', '/orders/a/cancel', R);
    const [, story] = valueIn(await on.ask('GET', '/orders/a/explanation'));
    const args = ['orders', 'explain', 'a', '--json', '--as-of', on.program.clock.now().toISOString()];
    const { stdout } = await runProgram(args, { environment: settingsOf(on.program) });
    expect(story).toEqual(JSON.parse(stdout));
  });

  it('has what decides when the order is looked up', async () => {
    const on = await controlSocket();
    on.program.insert({ external_order_id: 'a' });
    await on.ask('POST', '/sync');
    expect(valueIn(await on.ask('GET', '/orders/a/explanation'))).toMatchObject([
      200,
      { pace: { kind: 'every-tick' } },
    ]);
    expect(problemIn(await on.ask('GET', '/orders/b/explanation'))).toEqual([404, 'invalid', 'not-found']);
    expect(problemIn(await on.ask('GET', '/orders/a/explanation?account=other'))).toEqual([
      404,
      'invalid',
      'not-found',
    ]);
  });
});
