import { matchesGlob } from 'node:path';
import { parseArgs } from 'node:util';
import { tableOf, textColumns, PLAIN } from '../../src/extensions/documents/terminal.ts';
import { GROUPS, type Group } from './groups.ts';
import { judge, scoreOf } from './judged.ts';
import { tryMutants } from './mutants.ts';

const COLUMNS = ['group', 'mutants', 'equivalent', 'killed', 'accepted', 'left'];
const NAMES = GROUPS.map(({ name }) => name);
const USAGE = `usage: npm run mutate [-- [${NAMES.join('|')}|FILE]…]
Changes the code in one place after another, and names each change that no test notices: write the test, make the code simpler, or
judge it in test/mutation/judged.json. What has not changed since the last time is not tried again. Exit 1 if one survives.
`;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { help: { type: 'boolean' } } });
const chosen: readonly (Group | undefined)[] = positionals.length === 0 ? GROUPS : positionals.map(groupOf);
if (values.help === true) process.stdout.write(USAGE);
else if (chosen.includes(undefined)) {
  process.stderr.write(`no group of mutants has all of ${positionals.join(', ')}\n${USAGE}`);
  process.exitCode = 64;
} else await mutate(chosen.filter((group) => group !== undefined));

/** A group by its name, or one file of a group. */
function groupOf(name: string): Group | undefined {
  const group = GROUPS.find((one) => one.name === name || one.files.some((pattern) => matchesGlob(name, pattern)));
  return group === undefined || group.name === name ? group : { ...group, name, files: [name] };
}

async function mutate(groups: readonly Group[]): Promise<void> {
  const rows: Record<string, string>[] = [];
  for (const group of groups) {
    const { mutants, killed, survivors } = await tryMutants(
      group,
      `data/mutation/${group.name.replaceAll('/', '.')}.json`,
    );
    const { equivalent, accepted, left } = judge(survivors);
    for (const { file, line, code, mutant } of left) {
      process.stdout.write(`${file}:${line}\n  - ${code}\n  + ${mutant}\n`);
      process.exitCode = 1;
    }
    const score = scoreOf({ mutants, killed, equivalent: equivalent.length });
    rows.push({
      group: group.name,
      mutants: `${mutants}`,
      equivalent: `${equivalent.length}`,
      killed: `${(100 * score).toFixed(1)} %`,
      accepted: `${accepted.length}`,
      left: `${left.length}`,
    });
  }
  process.stdout.write(`\n${tableOf(textColumns(...COLUMNS), rows, PLAIN)}`);
}
