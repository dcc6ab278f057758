import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tableOf, textColumns, PLAIN } from '../src/extensions/documents/terminal.ts';
import { measureAccounts } from './accounts.ts';
import { measureCommands } from './commands.ts';
import { runProgram } from './child.ts';
import { isMet, lineOf, type Figure } from './figures.ts';
import { measureFeed } from './feed.ts';
import { measureFollowing } from './following.ts';
import { measureIdle } from './idle.ts';
import { measureLatency } from './latency.ts';
import { machine } from './machine.ts';
import { measureMemory } from './memory.ts';
import { measurePackage } from './package.ts';
import { measureReports } from './reports.ts';
import { FULL, SMALL, type Bench, type ManySizes } from './settings.ts';
import { measureSize } from './size.ts';
import { measureThroughput } from './throughput.ts';
import { measureWebhooks } from './webhooks.ts';

const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Figure[]>>> = {
  throughput: measureThroughput,
  memory: measureMemory,
  latency: measureLatency,
  idle: measureIdle,
  commands: measureCommands,
  accounts: measureAccounts,
  reports: measureReports,
  size: measureSize,
  feed: measureFeed,
  webhooks: measureWebhooks,
  following: measureFollowing,
  package: measurePackage,
};
const NAMES = Object.keys(PARTS);
const NUMBERS = ['accounts', 'workers', 'orders'] as const satisfies readonly (keyof ManySizes)[];
const USAGE = `usage: npm run bench [-- [${NAMES.join('|')}]… [--json] [--small] [--write]]
  --json   for programs
  --small  tiny sizes, to see that it runs: its figures mean nothing and no target is held
  --write  writes the tables of \`following\` into docs/reference/delays.md
  --accounts N, --workers N, --orders N  of \`accounts\`, on one server: 2,000, 10 and 500,000; whole are 10,000, 10 and 5,000,000
  --folder DIR  where that server keeps its data, in place of the memory
`;

interface Options {
  readonly json?: boolean;
  readonly small?: boolean;
  readonly write?: boolean;
  readonly folder?: string;
  readonly many: Partial<ManySizes>;
}

async function main(
  names: readonly string[],
  { json = false, small = false, write = false, folder: folderOfMany, many }: Options,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  process.once('SIGINT', () => process.exit(130));
  const about = machine();
  const say = (text: string) => process.stderr.write(`${text}\n`);
  if (!json) process.stdout.write(`${describe(about.machine)}\n${describe(about.versions)}\n`);
  const figures: Figure[] = [];
  for (const name of names) {
    const place = join(folder, name);
    const path = join(place, 'orders.db');
    mkdirSync(place);
    await runProgram(place, ['db', 'migrate'], {
      ORDER_SYNC_CONFIG: '/dev/null',
      ORDER_SYNC_DATABASE_URL: `sqlite:${path}`,
    });
    const usual = small ? SMALL : FULL;
    const sizes = { ...usual, many: { ...usual.many, ...many } };
    const measured = await PARTS[name]?.({ folder: place, path, sizes, write, folderOfMany, say });
    figures.push(...(measured ?? []));
  }
  const isReached = small || figures.every(isMet);
  if (json) process.stdout.write(`${JSON.stringify({ ...about, figures, isReached }, null, 2)}\n`);
  else {
    const lines = figures.map(lineOf);
    process.stdout.write(tableOf(textColumns(...Object.keys(lines[0] ?? {})), lines, PLAIN));
  }
  process.exitCode = isReached ? 0 : 1;
}

function describe(facts: Readonly<Record<string, string | number>>): string {
  return Object.entries(facts)
    .map(([name, value]) => `${name} ${value}`)
    .join(' · ');
}

try {
  const { values, positionals } = parseArgs({
    options: {
      json: { type: 'boolean' },
      small: { type: 'boolean' },
      write: { type: 'boolean' },
      folder: { type: 'string' },
      ...Object.fromEntries(NUMBERS.map((name) => [name, { type: 'string' as const }])),
    },
    allowPositionals: true,
  });
  const many = Object.fromEntries(
    NUMBERS.flatMap((name) => {
      const value = (values as Readonly<Record<string, unknown>>)[name];
      if (value === undefined) return [];
      if (!(Number(value) >= 1)) throw new TypeError(`--${name} takes a number`);
      return [[name, Number(value)]];
    }),
  );
  const unknown = positionals.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new TypeError(`there is no part ${unknown}`);
  await main(positionals.length === 0 ? NAMES : positionals, { ...values, many });
} catch (error) {
  if (!(error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}`);
  process.exitCode = 64;
}
