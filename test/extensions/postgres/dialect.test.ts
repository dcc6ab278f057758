import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, sql, type RawBuilder } from 'kysely';
import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { DecimalSum } from '../../../src/base/decimal.ts';
import { PostgresCompiler } from '../../../src/extensions/postgres/dialect.ts';
import { exactSum, isStoredTime } from '../../../src/store/dialect.ts';
import { newPostgresDatabase } from '../../support/postgres.ts';

const postgres = new Kysely<unknown>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresCompiler(),
  },
});

/** Returns the first value that a query has on a database of PostgreSQL. */
async function database() {
  const { connection } = await newPostgresDatabase();
  const client = new pg.Client(connection);
  await client.connect();
  onTestFinished(() => client.end());
  return async (query: RawBuilder<unknown>): Promise<unknown> => {
    const { sql: text, parameters } = query.compile(postgres);
    return (await client.query<{ value: unknown }>(text, [...parameters])).rows[0]?.value;
  };
}

it('sums decimals as the program reads them, each alone and all together', async () => {
  const first = await database();
  const values = [
    '0 -0 1 1.50 -2.5 1e3 1.5E-3 -1e+2 0e5 1e64 1e65 1e-63 1e-64 100e-2 1e0064 12345678901234567.123456789012345678',
    `${'9'.repeat(64)} ${'9'.repeat(65)} 0.${'1'.repeat(63)} 0.${'1'.repeat(64)} 1.${'0'.repeat(100)}e1 1.${'0'.repeat(130)}e1`,
    `${'9'.repeat(10_000)} 1e00064 1e9999 1e-9999 0.001e66 0.001e67 100e-64 1e00066 0e9999 0e-9999 -0.0e70 1e99999 01 .5 5. +1 1,5 NaN Infinity - 1e e1 0x1 1_000 ١ x`,
  ].flatMap((some): (string | null)[] => some.split(' '));
  values.push('', ' 1', '1 ', '1\n', null);
  const summed = async (of: readonly (string | null)[]) => {
    const rows = sql.join(of.map((value) => sql`(${value}::text)`));
    const sum = await first(sql`select ${exactSum('one')} as value from (values ${rows}) as t(one)`);
    return JSON.parse(sum as string) as unknown;
  };
  const expected = (of: readonly (string | null)[]) => {
    const sum = new DecimalSum();
    const unreadable = of.filter((value) => !sum.addReadable(value)).length;
    return [sum.toString(), unreadable];
  };
  for (const value of values) expect([value, await summed([value])]).toEqual([value, expected([value])]);
  expect(await summed(values)).toEqual(expected(values));
});

it('tells which texts are times', async () => {
  const first = await database();
  const times = ['2026-01-05T12:00:00.000Z', '2024-02-29T23:59:59.999Z'];
  const others = ['2026-02-29T00:00:00.000Z', '2026-04-31T00:00:00.000Z', '2026-01-05T24:00:00.000Z'];
  for (const text of [...times, ...others, '2026-01-05T12:00:00Z', '2026-01-05', '', null]) {
    const isTime = await first(sql`select ${isStoredTime('one')} as value from (select ${text}::text as one) as t`);
    expect([text, isTime]).toEqual([text, times.includes(text ?? '')]);
  }
});
