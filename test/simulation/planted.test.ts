import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PATCHES = join(ROOT, 'test/simulation/planted');
const NEEDED = ['src', 'migrations', 'config/default.yaml', 'test/simulation', 'package.json', 'tsconfig.json'];
const SEEDS = '300';

/** The promise that each planted bug breaks first. */
const BREAKS: Readonly<Record<string, RegExp>> = {
  'amount-through-a-float': /amount exact/,
  'disputed-reads-open': /what contradicts never reads as ours/,
  'events-outside-of-the-transaction': /row equals last event|one event a change/,
  'in-flight-is-sent-again': /no order is created twice|unknown is never re-sent|intent before send|no bug/,
  'late-owner-goes-on': /rate kept|a person decides|unknown is never re-sent/,
  'older-record-wins': /no older record over a newer one/,
  'order-never-comes-due': /no order is lost/,
  'pause-forgotten-at-restart': /a pause is kept/,
  'rate-forgotten-at-restart': /rate kept/,
  'recovery-sends-again': /unknown is never re-sent/,
  'request-before-intent': /intent before send|unknown is never re-sent/,
  'unknown-commit-taken-for-undone': /no bug|one event a change/,
  'unknown-is-sent-again': /unknown is never re-sent/,
};

function run(folder: string, command: string, args: string[]): { status: number | null; output: string } {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  return { status, output: `${stdout}${stderr}` };
}

describe('the simulation catches a planted bug:', () => {
  it('each patch is one of these', () => {
    const names = readdirSync(PATCHES).map((name) => name.replace(/\.patch$/, ''));
    expect(names.toSorted()).toEqual(Object.keys(BREAKS));
  });

  it.each(Object.entries(BREAKS))('%s', (name, promise) => {
    const folder = mkdtempSync(join(tmpdir(), 'order-sync-planted-'));
    try {
      for (const path of NEEDED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
      symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
      expect(run(folder, 'git', ['apply', join(PATCHES, `${name}.patch`)])).toEqual({ status: 0, output: '' });
      const { status, output } = run(folder, process.execPath, ['test/simulation/main.ts', '--seeds', SEEDS]);
      expect([status, output]).toEqual([1, expect.stringMatching(promise)]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
