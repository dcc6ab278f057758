import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { FINDING_CLASSES } from '../../../src/findings/rules/classes.ts';
import { runProgram } from '../../support/cli-function.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { CLI, FLAGS } from '../../support/program.ts';

/** How each shell is asked what it offers behind the words; the last one is being typed. */
const SHELLS = {
  bash: {
    flags: ['--norc', '--noprofile', '-c'],
    program: (script: string, words: readonly string[]) => `
source ${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}
_order_sync; printf '%s\\n' "\${COMPREPLY[@]}"`,
  },
  // Its own functions for showing what is offered need a line that is being edited.
  zsh: {
    flags: ['-f', '-c'],
    program: (script: string, words: readonly string[]) => `
compdef() {}; compset() {}; _files() { print FILES }
compadd() { shift; print -l -- $@ }
_describe() { print -l -- \${(P)@[-1]%%:*} }
source ${script}
words=(${words.map((word) => `'${word}'`).join(' ')}); CURRENT=${words.length}
_order_sync`,
  },
  fish: {
    flags: ['--no-config', '-c'],
    program: (script: string, words: readonly string[]) =>
      `source ${script}; complete -C '${words.join(' ')}' | string replace -r '\\t.*' ''`,
  },
} as const;

describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])('completion %s', (shell) => {
  const { flags, program } = SHELLS[shell];
  const isThere = spawnSync(shell, [...flags, 'exit 0']).status === 0;
  let script = '';
  beforeAll(async () => {
    script = (await runProgram(['completion', shell])).stdout;
  });

  function offered(...words: string[]): readonly string[] {
    const folder = temporaryFolder();
    const file = join(folder, 'script');
    writeFileSync(file, script);
    const called = join(folder, 'order-sync');
    writeFileSync(called, `#!/bin/sh\nexec ${[process.execPath, ...FLAGS, CLI].join(' ')} "$@"\n`);
    chmodSync(called, 0o700);
    const env = { ...process.env, PATH: `${folder}:${process.env['PATH']}` };
    const { stdout, stderr } = spawnSync(shell, [...flags, program(file, words)], { encoding: 'utf8', env });
    expect(stderr).toBe('');
    // Not each shell leaves out what does not begin as the word that is being typed.
    const typed = words.at(-1)?.replace(/^--\w+=/, '') ?? '';
    return stdout
      .split('\n')
      .map((line) => line.trim().replace(/^--\w+=/, ''))
      .filter((line) => line !== '' && line.startsWith(typed));
  }

  it.skipIf(!isThere)('offers commands, of the group that is named', () => {
    expect(offered('order-sync', 'rep')).toEqual(['report']);
    expect(offered('order-sync', 'report', 'rec')).toEqual(['reconciliation']);
    expect(offered('order-sync', '--config', 'run', 'orders', 'can')).toEqual(['cancel']);
    expect(offered('order-sync', 'links', 's')).toEqual(['show']);
  });

  it.skipIf(!isThere)('offers the options of the command, and those of the program', () => {
    expect(offered('order-sync', 'sync', '--')).toEqual(expect.arrayContaining(['--timeout', '--json', '--config']));
    expect(offered('order-sync', 'sync', '--')).not.toContain('--state');
  });

  it.skipIf(!isThere)('offers the values of an option and of an argument', () => {
    expect(offered('order-sync', 'orders', 'resolve', '--as', 'not')).toEqual(['not-created']);
    expect(offered('order-sync', 'findings', 'list', '--json', '--class', 'AMOUNT')).toEqual(['AMOUNT_MISMATCH']);
    expect(offered('order-sync', 'report', 'explain', 'TX_').toSorted()).toEqual(
      Object.keys(FINDING_CLASSES)
        .filter((name) => name.startsWith('TX_'))
        .toSorted(),
    );
    expect(offered('order-sync', 'sync', '--timeout', '')).toEqual([]);
  });

  it.skipIf(!isThere)('offers the values of an option behind its equals sign, and the accounts of the settings', () => {
    const joined = shell === 'bash' ? ['--class', '=', 'AMOUNT'] : ['--class=AMOUNT'];
    expect(offered('order-sync', 'findings', 'list', ...joined)).toEqual(['AMOUNT_MISMATCH']);
    expect(offered('order-sync', 'sync', '--account', '')).toEqual(['default']);
  });

  it.skipIf(!isThere)('runs nothing of what is typed', () => {
    const file = join(temporaryFolder(), 'made');
    expect(offered('order-sync', 'orders', 'show', `$(touch ${file})`)).toEqual([]);
    expect(spawnSync('test', ['-e', file]).status).toBe(1);
  });
});
