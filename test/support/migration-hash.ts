import { createHash } from 'node:crypto';
import { DummyDriver, Kysely, type DialectAdapter, type QueryCompiler } from 'kysely';
import { expect, it } from 'vitest';
import type { Migrations } from '../../migrations/index.ts';

/** The hash of the statements that a migration runs where each of them gives no rows: the same on every machine. */
async function hashOf(
  up: (db: Kysely<unknown>) => Promise<void>,
  adapter: DialectAdapter,
  compiler: QueryCompiler,
): Promise<string> {
  const statements: string[] = [];
  const db = new Kysely<unknown>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new DummyDriver(),
      createIntrospector: () => expect.fail('a migration asks what is there'),
      createQueryCompiler: () => compiler,
    },
    log: ({ query }) => void statements.push(query.sql),
  });
  await up(db);
  expect(statements.length).toBeGreaterThan(0);
  return createHash('sha256').update(statements.join(';\n')).digest('hex');
}

export function keepsMigrations(migrations: Migrations, adapter: DialectAdapter, compiler: QueryCompiler): void {
  const all = Object.entries(migrations).map(([name, migration]) => ({ name, ...migration }));
  it.each(all)('the migration $name stays as it is: migrations are only added', async ({ name, up, hash }) => {
    const now = await hashOf(up, adapter, compiler);
    const advice = `add a migration in place of changing ${name}; only before the first release set its hash to ${now}`;
    expect({ advice, hash }).toEqual({ advice, hash: now });
  });
}
