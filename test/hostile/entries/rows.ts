import { SqliteError } from 'better-sqlite3';
import fc from 'fast-check';
import { sameDecimal } from '../../../src/base/decimal.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { testClock } from '../../support/test-clock.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground, NEVER, sandbox } from '../ground.ts';
import { ODD_NUMBERS, ODD_TIMES, oddText } from '../odd.ts';

/** A row as another program inserts it: what stands in each column, in SQL. */
interface OddRow {
  readonly how: string;
  readonly columns: Readonly<Record<string, string>>;
}

const MERCHANTS = [
  'external_order_id',
  'asset',
  'asset_position',
  'from_currency',
  'to_currency',
  'order_type',
  'order_limit',
  'payment_token',
  'provider_type',
  'crypto_address',
  'bonus',
] as const;
/** The columns of order-sync, which no merchant is meant to write. */
const OTHERS = ['account', 'state', 'revision', 'created_at', 'updated_at', 'next_action_at', 'attempts', 'rowid'];

const text = (value: string) => `cast(x'${Buffer.from(value).toString('hex')}' as text)`;
const SQL_NUMBERS = ODD_NUMBERS.filter((number) => /^-?\d*\.?\d+(e[+-]?\d+)?$/i.test(number));

const literal: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: oddText.map(text) },
  { weight: 3, arbitrary: fc.constantFrom(...SQL_NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_NUMBERS).map(text) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD_TIMES, '2025-19-39T29:59:59.999Z').map(text) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'null',
      "x''",
      "x'00ff'",
      'zeroblob(100000)',
      "cast(x'c080' as text)",
      "cast(x'eda080' as text)",
      "cast(x'61ff62' as text)",
      "'1.5' || char(0)",
      'char(0)',
      'true',
      '9e999',
      '-9e999',
      "json('[1]')",
    ),
  },
);

const meant = { external_order_id: text('odd'), asset: "'1.5'", from_currency: "'BTC'", to_currency: "'EUR'" };
const how = fc.constantFrom('insert', 'insert or ignore', 'insert or replace');
const columns = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...MERCHANTS), literal) },
  { weight: 2, arbitrary: fc.tuple(fc.constantFrom(...OTHERS), literal) },
);
const oddRow: fc.Arbitrary<OddRow> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ how, columns: columns.map(([name, value]) => ({ ...meant, [name]: value })) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      how,
      columns: fc
        .uniqueArray(columns, { selector: ([name]) => name, maxLength: 5 })
        .map((several) => ({ ...meant, ...Object.fromEntries(several) })),
    }),
  },
);

/** Rows that another program inserts: the database refuses them, or each is sent, or invalid with a reason. */
export const rows: Entry<OddRow> = {
  name: 'rows',
  inputs: oddRow,
  inputsAProgram: 20,
  async open() {
    const clock = testClock(BEGINNING);
    const { exchange, answer } = sandbox(clock);
    const on = await ground({
      clock,
      answer: (request) => {
        if (request.method === 'POST') checkAmounts(request.body ?? '');
        return answer(request);
      },
      environment: { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED' },
    });
    const { app, merchant } = on;
    const sent = merchant.prepare('select asset, bonus, order_limit from merchant_orders where external_order_id = ?');
    const stateOf = merchant.prepare('select state from merchant_orders where external_order_id = ?').pluck();
    /** The digits that leave are those of the table. */
    function checkAmounts(body: string): void {
      const id = (JSON.parse(body) as { externalOrderId: string }).externalOrderId;
      const row = sent.get(id) as Record<string, string | null> | undefined;
      if (row === undefined) broken(`what was sent is no row: ${JSON.stringify(id)}`);
      const digits = (name: string) => new RegExp(`"${name}":(-?[\\d.eE+-]+)`).exec(body)?.[1];
      for (const [name, column] of [
        ['asset', 'asset'],
        ['bonus', 'bonus'],
        ['limit', 'order_limit'],
      ] as const) {
        const [wire, stored] = [digits(name), row[column]];
        if (wire !== undefined && !sameDecimal(wire, stored ?? '')) broken(`${name} left as ${wire} for ${stored}`);
      }
    }
    let given = 0;
    return {
      async give(input) {
        given += 1;
        insert(input, given);
        const good = `good-${given}`;
        insert({ how: 'insert', columns: { ...meant, external_order_id: text(good) } }, given);
        await createPass(app, NEVER);
        if (stateOf.get(good) !== 'accepted') broken(`another order is ${String(stateOf.get(good))}`);
        clock.advance(60_000);
        await followPass(app, 'all', NEVER);
        if (stateOf.get(good) !== 'final') broken(`another order is ${String(stateOf.get(good))} after a minute`);
        const { duplicated } = exchange.census();
        if (duplicated.length > 0) broken(`created twice: ${JSON.stringify(duplicated)}`);
        for (const row of unsettled())
          broken(`a row is neither sent nor invalid with a reason: ${JSON.stringify(row)}`);
      },
      [Symbol.asyncDispose]: () => on[Symbol.asyncDispose](),
    };

    function insert({ how: statement, columns: named }: OddRow, index: number): void {
      const row = { ...named };
      if (row['external_order_id'] === meant.external_order_id) row['external_order_id'] = text(`odd-${index}`);
      const [names, values] = [Object.keys(row), Object.values(row)];
      try {
        merchant.exec(`${statement} into merchant_orders (${names.join(', ')}) values (${values.join(', ')})`);
      } catch (error) {
        if (!(error instanceof SqliteError)) throw error;
      }
    }

    /** All rows but rows of other accounts, rows that say themselves when they are due, and ids that cannot be read. */
    function unsettled(): unknown[] {
      return merchant
        .prepare(
          `select external_order_id, state, state_reason, next_action_at from merchant_orders
           where account = 'default' and (state = 'pending' or (state = 'invalid' and ifnull(state_reason, '') = ''))
             and (next_action_at <= ? or typeof(next_action_at) <> 'text')`,
        )
        .all(clock.now().toISOString())
        .filter((row) => !String((row as Record<string, unknown>)['external_order_id']).includes('\uFFFD'));
    }
  },
};
