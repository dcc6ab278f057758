import { createHash } from 'node:crypto';
import { DummyDriver, Kysely, type DialectAdapter, type QueryCompiler } from 'kysely';
import { expect, it } from 'vitest';
import type { Migrations } from '../../migrations/index.ts';

/** Every migration up to here is older than the rule that a migration only adds. */
const LAST_BEFORE_RULE = '0005';

/** Each migration that takes something away, with the version that stopped to use it: at least one version before its own. */
const CONTRACTED: Readonly<Record<string, string>> = {};

/** The things that the version before may still use, or cannot write any more. */
const CONTRACTIONS: readonly RegExp[] = [
  /\bdrop\s+(table|view|column|schema|type)\b/i,
  /\brename\b/i,
  /\bset\s+not\s+null\b/i,
  /\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/i,
  /\badd\s+(column\s+)?(?!constraint)\S+(?=[^,;]*\bnot\s+null\b)(?![^,;]*\b(default|generated)\b)/i,
  /\badd\s+(constraint|check|unique|primary|foreign)\b/i,
  /\bcreate\s+unique\s+index\b/i,
];

/** The first statement that keeps the version before from working, if there is one. */
export function contractionIn(statements: readonly string[]): string | undefined {
  // Rules about a new table are none of the version before.
  const made = statements.flatMap((text) => /^\s*create\s+table\s+(\S+)/i.exec(text)?.[1] ?? []);
  const isOfNew = (text: string) => made.some((name) => new RegExp(`\\b(on|table)\\s+${name}\\b`, 'i').test(text));
  return statements.find((text) => !isOfNew(text) && CONTRACTIONS.some((taken) => taken.test(text)));
}

/** The statements that a migration runs if each of them returns no rows: the same on every machine. */
async function statementsOf(
  up: (db: Kysely<unknown>) => Promise<void>,
  adapter: DialectAdapter,
  compiler: QueryCompiler,
): Promise<readonly string[]> {
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
  return statements;
}

export function keepsMigrations(migrations: Migrations, adapter: DialectAdapter, compiler: QueryCompiler): void {
  const all = Object.entries(migrations).map(([name, migration]) => ({ name, ...migration }));
  it.each(all)('the migration $name stays as it is: migrations are only added', async ({ name, up, hash }) => {
    const statements = await statementsOf(up, adapter, compiler);
    const now = createHash('sha256').update(statements.join(';\n')).digest('hex');
    const advice = `add a migration in place of changing ${name}; only before the first release set its hash to ${now}`;
    expect({ advice, hash }).toEqual({ advice, hash: now });
  });
  const ruled = all.filter(({ name }) => name > `${LAST_BEFORE_RULE}_~`);
  it.each(ruled)('the migration $name only adds, or says which version stopped to use what it takes', async (one) => {
    const contraction = contractionIn(await statementsOf(one.up, adapter, compiler));
    const kind = contraction === undefined ? 'expand' : 'contract';
    expect({ contraction, begins: one.name.replace(/^\d+_/, '') }).toMatchObject({
      begins: expect.stringMatching(`^${kind}_`),
    });
    if (kind === 'contract') expect(Object.keys(CONTRACTED)).toContain(one.name);
  });
}
