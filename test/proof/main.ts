import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { tableOf, textColumns, PLAIN } from '../../src/extensions/documents/terminal.ts';
import { PARTS } from './parts.ts';
import { doneOf, PAGE, pageOf } from './reliability.ts';
import { runParts, type PartResult } from './run.ts';

const NAMES = PARTS.map(({ name }) => name);
const USAGE = `usage: npm run proof [-- [${NAMES.join('|')}]… [--small] [--json FILE]]
  --small      what a change runs through, in minutes; without it, what a release runs through, in hours
  --json FILE  what came of it, for programs
Each result is kept: broken off, it goes on from there. Results of a full proof are kept in test/proof/results, to be committed,
small ones in data/proof. A piece whose promises were broken, or whose program or tests have changed since, runs again. Run whole
and in full, it writes docs/reliability.md. Exit 1 if a promise was broken.
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { small: { type: 'boolean', default: false }, json: { type: 'string' }, help: { type: 'boolean' } },
});
const unknown = positionals.filter((name) => !NAMES.includes(name));
if (values.help === true) process.stdout.write(USAGE);
else if (unknown.length > 0) {
  process.stderr.write(`no part of the proof is called ${unknown.join(', ')}\n${USAGE}`);
  process.exitCode = 64;
} else await prove();

async function prove(): Promise<void> {
  const chosen = PARTS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
  const dose = values.small ? 'small' : 'full';
  const begun = performance.now();
  const results = await runParts(chosen, dose, (text) => process.stderr.write(`${text}\n`));
  process.stdout.write(`${describe(results)}\nthe proof took ${Math.round((performance.now() - begun) / 1_000)} s\n`);
  if (values.json !== undefined) writeFileSync(values.json, JSON.stringify(results.map(plain), null, 2));
  if (dose === 'full' && chosen.length === PARTS.length) {
    writeFileSync(PAGE, pageOf(readFileSync(PAGE, 'utf8'), results));
    process.stdout.write('docs/reliability.md is written\n');
  }
  if (results.some(({ violations }) => violations.length > 0)) process.exitCode = 1;
}

function plain({ part, ...result }: PartResult) {
  return { name: part.name, ...result };
}

function describe(results: readonly PartResult[]): string {
  const rows = results.map(({ part, counts, durationMs, violations }) => ({
    part: part.name,
    done: doneOf(counts),
    in: `${Math.round(durationMs / 1_000)} s`,
    'came to': violations.length === 0 ? 'every promise was kept' : `${violations.length} broken`,
  }));
  const table = tableOf(textColumns('part', 'done', 'in', 'came to'), rows, PLAIN);
  const broken = results.flatMap(({ part, violations }) => violations.map((one) => `${part.name}: ${one}`));
  return [table.trimEnd(), ...broken].join('\n');
}
