import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../support/folders.ts';
import { FLAGS } from '../../support/program.ts';

const WRITE = new URL('../../../src/extensions/commands/files.ts', import.meta.url).href;
/** Writes half of a file, says so, and does not continue. */
const HALF = `
  import { writePieces } from '${WRITE}';
  async function* half() {
    yield Buffer.from('new');
    process.stdout.write('half');
    await new Promise((resolve) => process.stdin.resume().once('end', resolve));
  }
  await writePieces(half(), process.argv[1]);
`;

it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'leaves the old file as it was, and nothing beside it, if %s ends the program half way',
  async (signal) => {
    const folder = temporaryFolder();
    const out = join(folder, 'report.csv');
    writeFileSync(out, 'old');
    const child = spawn(process.execPath, [...FLAGS, '--input-type=module', '--eval', HALF, out]);
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    expect(readdirSync(folder)).toHaveLength(2);
    child.kill(signal);
    expect(await ended).toEqual([null, signal]);
    expect([readdirSync(folder), readFileSync(out, 'utf8')]).toEqual([['report.csv'], 'old']);
  },
);
