import { createHash } from 'node:crypto';
import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteQueryCompiler,
  type DialectAdapter,
  type QueryCompiler,
} from 'kysely';
import { expect, it } from 'vitest';
import { MIGRATIONS } from '../../migrations/index.ts';

const DIALECTS: Readonly<Record<keyof typeof MIGRATIONS, readonly [DialectAdapter, QueryCompiler]>> = {
  sqlite: [new SqliteAdapter(), new SqliteQueryCompiler()],
  postgres: [new PostgresAdapter(), new PostgresQueryCompiler()],
};

/** The hash of the statements that a migration runs where each of them gives no rows: the same on every machine. */
async function hashOf(kind: keyof typeof MIGRATIONS, up: (db: Kysely<unknown>) => Promise<void>): Promise<string> {
  const statements: string[] = [];
  const [adapter, compiler] = DIALECTS[kind];
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

const ALL = Object.entries(MIGRATIONS).flatMap(([kind, migrations]) =>
  Object.entries(migrations).map(([name, migration]) => ({
    kind: kind as keyof typeof MIGRATIONS,
    name,
    ...migration,
  })),
);

it.each(ALL)(
  'the migration $name of $kind stays as it is: migrations are only added',
  async ({ kind, name, up, hash }) => {
    const now = await hashOf(kind, up);
    const advice = `add a migration in place of changing ${name}; only before the first release set its hash in migrations/index.ts to ${now}`;
    expect({ advice, hash }).toEqual({ advice, hash: now });
  },
);
