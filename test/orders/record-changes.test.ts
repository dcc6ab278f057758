import { describe, expect, it } from 'vitest';
import { listFindings } from '../../src/extensions/operate/tables/listed-findings.ts';
import { CANARIES } from '../support/canary-exchange.ts';
import type { ScriptedAnswer } from '../support/scripted-exchange.ts';
import { acceptedOrders, type TestProgram } from '../support/test-program.ts';
import { DAY } from '../support/tracking.ts';
import { acknowledge } from '../../src/extensions/operate/tables/findings.ts';

const DATE = '2026-01-05T11:00:00Z';
type Fields = Readonly<Record<string, unknown>>;

/** An order record on the wire, with numbers as they are given here. */
function record({
  ratio = '30000.10',
  fee = '0.1',
  order = {},
  fiat = {},
  more = {},
}: {
  ratio?: string;
  fee?: string;
  order?: Fields;
  fiat?: Fields;
  more?: Fields;
} = {}): ScriptedAnswer {
  const operation = `{"currencyPair":{"fromCurrency":"BTC","toCurrency":"EUR"},"inputAsset":1.5,"ratio":${ratio}}`;
  const rest = JSON.stringify({ id: 'o1', status: 'REQUEST', modificationDate: DATE, ...order }).slice(1);
  const body = `{"externalOrderId":"a","order":{"exchangeOperation":${operation},
    "cryptoTransaction":{"status":"NEW","fee":${fee}},
    "fiatTransaction":${JSON.stringify({ status: 'NEW', ...fiat })},${rest},${JSON.stringify({ percent: 1, ...more }).slice(1)}`;
  return { status: 200, body };
}

/** An order whose record the exchange shows as each of these in turn; the events of each look-up, and the program. */
async function shown(...answers: readonly ScriptedAnswer[]) {
  const { program, answers: current, lookUp } = await acceptedOrders(['a']);
  const events: string[][] = [];
  const show = async (answer: ScriptedAnswer) => {
    const before = program.events('a').length;
    current.set('a', answer);
    await lookUp(DAY);
    events.push(program.events('a').slice(before));
  };
  for (const answer of answers) await show(answer);
  return { program, events, show };
}

const statuses = (program: TestProgram) => program.events('a').filter((event) => event.startsWith('order.status'));
const findings = async ({ app }: TestProgram) =>
  (await listFindings(app.store.db, { account: 'default', class: 'REPLICAS_DISAGREE', limit: 9 })).rows;

describe('a changed field of a record', () => {
  it('is an event, with both values digit by digit, and the first record has none', async () => {
    const { events } = await shown(record(), record({ ratio: '30000.100000000000000001', fee: '0.10' }));
    expect(events[0]?.filter((event) => event.startsWith('record.'))).toEqual([]);
    expect(events[1]).toEqual(['record.ratio 30000.10 → 30000.100000000000000001']);
  });

  it('is recorded beside the statuses, each once', async () => {
    const order = { status: 'DONE', modificationDate: '2026-01-05T12:00:00Z', resultMessage: 'fine' };
    const { events } = await shown(record(), record({ order }));
    expect(events[1]).toEqual([
      'order.status REQUEST → DONE',
      'record.order.resultMessage null → fine',
      `record.modificationDate ${DATE} → 2026-01-05T12:00:00Z`,
    ]);
  });

  it('shows no token and no link, and of unknown fields only the names', async () => {
    const secret = { paymentToken: CANARIES.paymentToken, link: `https://pay.example/${CANARIES.cardToken}` };
    const { program, events } = await shown(record(), record({ fiat: secret, more: { card: CANARIES.cardNumber } }));
    expect(events[1]).toEqual([
      'record.link null → changed',
      'record.paymentToken null → changed',
      'record.other null → card',
    ]);
    expect(JSON.stringify(program.merchant.prepare('select * from events').all())).not.toMatch(/canary|4929/);
  });

  it('is cut after 1,000 characters, and two long ones that begin alike stay different', async () => {
    const message = (end: string) => record({ order: { resultMessage: 'x'.repeat(5_000) + end } });
    const { program } = await shown(message('1'), message('2'));
    const [event] = program.merchant
      .prepare(`select old_value, new_value from order_events where field = 'record.order.resultMessage'`)
      .all() as { old_value: string; new_value: string }[];
    expect(event?.old_value).toMatch(/^x{1000}… \(SHA-256 [0-9a-f]{64}\)$/);
    expect(event?.new_value).toMatch(/^x{1000}… \(SHA-256 [0-9a-f]{64}\)$/);
    expect(event?.new_value).not.toBe(event?.old_value);
  });

  it('is none if only the time of the server differs, or nothing does', async () => {
    const { events } = await shown(record(), record({ order: { serverDate: '2026-01-05T13:00:00Z' } }), record());
    expect(events.slice(1)).toEqual([[], []]);
  });

  it('is none if the date of the record alone moves, and the newest record is stored all the same', async () => {
    const dated = (at: number) => record({ order: { modificationDate: `2026-01-05T11:00:${at}Z` } });
    const { program, events, show } = await shown(record(), ...Array.from({ length: 12 }, (_, at) => dated(at + 10)));
    expect(events.slice(1).flat()).toEqual([]);
    const stored = program.merchant.prepare('select body from order_records').get() as { body: string };
    expect(stored.body).toContain('"modificationDate":"2026-01-05T11:00:21Z"');
    await show(record({ ratio: '1', order: { modificationDate: '2026-01-05T11:00:30Z' } }));
    expect(program.events('a').slice(-2)).toEqual([
      'record.modificationDate 2026-01-05T11:00:21Z → 2026-01-05T11:00:30Z',
      'record.ratio 30000.10 → 1',
    ]);
  });
});

describe('two records of one date that the exchange sends in turn', () => {
  const open = record();
  const done = record({ order: { status: 'DONE' } });

  it('are one finding that counts from the third turn on, and no more events', async () => {
    const { program, show } = await shown(open, done, open, done, open, done);
    const before = program.events('a');
    expect(statuses(program)).toEqual([
      'order.status null → REQUEST',
      'order.status REQUEST → DONE',
      'order.status DONE → REQUEST',
    ]);
    expect(await findings(program)).toMatchObject([{ status: 'open', actual: `DONE, modified ${DATE} (change 2)` }]);
    for (let round = 0; round < 10; round += 1) {
      await show(open);
      await show(done);
    }
    expect(program.events('a')).toEqual(before);
    expect(await findings(program)).toMatchObject([{ status: 'open', actual: `DONE, modified ${DATE} (change 12)` }]);
    expect(program.row('a')).toMatchObject({ state: 'open', order_status: 'REQUEST' });
  });

  it('are an event again with a newer date, and if the exchange stays with the other one', async () => {
    const { program, show } = await shown(open, done, open, done);
    await show(record({ order: { status: 'DONE', modificationDate: '2026-01-05T11:00:01Z' } }));
    expect(statuses(program).at(-1)).toBe('order.status REQUEST → DONE');
    const stays = await shown(open, done, open, done, done, done, done);
    expect(stays.program.row('a')['order_status']).toBe('DONE');
  });

  it('leave a finding that a person has acknowledged as it is', async () => {
    const { program, show } = await shown(open, done, open, done);
    const [finding] = await findings(program);
    await program.app.store.writer.write((tx) =>
      acknowledge(tx, finding!, { actor: 'ann', reason: 'known', now: program.clock.now() }),
    );
    await show(open);
    await show(done);
    expect(await findings(program)).toMatchObject([
      { status: 'acknowledged', actual: `DONE, modified ${DATE} (change 2)` },
    ]);
  });

  it('never hide a record that contradicts the row', async () => {
    const foreign = record({ more: { merchant: { id: 'another' } } });
    const ours = record({ more: { merchant: { id: 'm-1' } } });
    const { program, show } = await shown(ours, foreign, ours, foreign);
    expect(program.row('a')['state']).toBe('disputed');
    await show(ours);
    expect(program.row('a')['state']).toBe('disputed');
    for (let round = 0; round < 5; round += 1) await show(ours);
    expect(program.row('a')['state']).toBe('open');
  });
});
