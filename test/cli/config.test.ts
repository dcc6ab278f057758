import { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { registerConfig } from '../../src/cli/config.ts';
import { ConfigError } from '../../src/config.ts';

function run(...argv: string[]): string {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const program = new Command().option('--config <file>');
  registerConfig(program);
  program.parse(['--config', 'config/default.yaml', 'config', ...argv], { from: 'user' });
  return out.mock.calls.map(([text]) => String(text)).join('');
}

describe('config', () => {
  it('show prints a line a setting with its source', () => {
    expect(run('show')).toMatch(/^exchange\.timeout +15s +config\/default\.yaml:\d+$/m);
  });

  it('show --json prints an array', () => {
    expect(JSON.parse(run('show', '--json'))).toContainEqual({
      setting: 'log.level',
      value: 'info',
      source: expect.stringMatching(/^config\/default\.yaml:\d+$/),
    });
  });

  it('check says what is missing', () => {
    expect(() => run('check')).toThrow(ConfigError);
  });
});
