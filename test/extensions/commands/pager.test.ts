import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { commandFolder } from '../../support/folders.ts';

const place = commandFolder();
const LONG = ['report', 'explain'];
const SHORT = ['report', 'explain', 'CREATE_UNKNOWN'];

/** Runs a command on a terminal of 20 rows. The pager keeps what it read. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}, rows = 20) {
  const file = join(place.options.cwd, `paged-${expect.getState().currentTestName?.length}`);
  const given = { LESS: '', NO_PAGER: '', PAGER: `cat > ${file}`, ...environment };
  const { code, stdout } = await runProgram(args, { environment: given, columns: 100, rows });
  return { code, stdout, paged: existsSync(file) ? stripVTControlCharacters(readFileSync(file, 'utf8')) : undefined };
}

it('has a text that is longer than the terminal go through the pager', async () => {
  const { code, stdout, paged } = await run(LONG);
  expect([code, stdout]).toEqual([0, '']);
  expect(paged).toMatch(/^error\nFAIL_OVER [^]*report explain CLASS\n$/);
});

it('uses no pager for a text that fits, for JSON, and if the environment says so', async () => {
  for (const [args, environment] of [
    [SHORT, {}],
    [[...LONG, '--json'], {}],
    [LONG, { NO_PAGER: '1' }],
    [LONG, { PAGER: 'cat' }],
    [LONG, { PAGER: '' }],
  ] as const) {
    const { code, stdout, paged } = await run(args, environment);
    expect([code, paged]).toEqual([0, undefined]);
    expect(stdout).toContain('CREATE_UNKNOWN');
  }
});

it('does without a pager that is not installed, and takes one that ends early for no error', async () => {
  const absent = await run(LONG, { PAGER: 'no-such-pager-is-installed 2> /dev/null' });
  expect([absent.code, absent.stdout.includes('CREATE_UNKNOWN')]).toEqual([0, true]);
  expect(await run(LONG, { PAGER: 'exit 3' })).toMatchObject({ code: 0, stdout: '' });
});

it('keeps the exit code of the command', async () => {
  const { code, paged } = await run(['report', 'summary'], { ORDER_SYNC_DATABASE_URL: `sqlite:${place.path}` }, 2);
  expect([code, paged?.includes('Orders')]).toEqual([1, true]);
});
