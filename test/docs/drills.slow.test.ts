import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { seededRandom } from '../../src/extensions/sandbox/random.ts';
import { startSandbox } from '../../src/extensions/sandbox/server.ts';
import { ofSqlite } from '../support/database.ts';
import { temporaryFolder } from '../support/folders.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const [, DRILLS = ''] = /\n## Drills\n([^]*)/.exec(readFileSync(join(ROOT, 'docs/runbook.md'), 'utf8')) ?? [];
const [BEGIN = '', ...SECTIONS] = DRILLS.split('\n### ');
const KEY = 'drill-key';
const WRONG_CODE = 99;

/** The lines of a shell in a part of the page, each with an end of the script if its exit code is another than the page says. */
function scriptOf(part: string): string {
  const lines = part.split('\n').filter((line) => line.startsWith('    '));
  return lines
    .map((line) => {
      const [, code = '0'] = /#.*exit code (\d+)$/.exec(line) ?? [];
      return `${line.trim()}\n[ $? -eq ${code} ] || { echo ${JSON.stringify(line.trim())} >&2; exit ${WRONG_CODE}; }`;
    })
    .join('\n');
}

it.each(SECTIONS.map((section) => ({ name: section.split('\n')[0], section })))(
  'the drill "$name" goes as the manual says, line by line',
  ofSqlite('the drills are those of a file'),
  async ({ section }) => {
    const folder = temporaryFolder();
    const sandbox = await startSandbox({ apiKey: KEY, clock: systemClock(), random: seededRandom(1), speed: 1_000 });
    onTestFinished(() => sandbox.close());
    const programs = join(folder, 'bin');
    mkdirSync(programs);
    const launcher = `#!/bin/sh\nexec ${JSON.stringify(process.execPath)} ${JSON.stringify(join(ROOT, 'src/bin.mjs'))} "$@"\n`;
    writeFileSync(join(programs, 'order-sync'), launcher, { mode: 0o700 });
    const script = [BEGIN, section].map(scriptOf).join('\n').replaceAll('/tmp/drill', join(folder, 'drill'));
    const shell = spawn('sh', ['-c', script], {
      cwd: folder,
      env: {
        PATH: `${programs}:${process.env['PATH'] ?? ''}`,
        ORDER_SYNC_CONFIG: '/dev/null',
        ORDER_SYNC_EXCHANGE_BASE_URL: sandbox.url,
        ORDER_SYNC_EXCHANGE_API_KEY: KEY,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code]] = await Promise.all([text(shell.stderr), once(shell, 'close')]);
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    const { preOrders, duplicated } = sandbox.exchange.census();
    expect(preOrders).toBeGreaterThan(0);
    expect(duplicated).toEqual([]);
  },
);
