import { Command } from 'commander';
import { describe, expect, it, vi } from 'vitest';
import { registerConfig } from '../../../src/cli/operate/config.ts';
import { ConfigError } from '../../../src/config/config.ts';

function run(...argv: string[]): string {
  return runWith('config/default.yaml', ...argv);
}

function runWith(file: string, ...argv: string[]): string {
  const out = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const program = new Command().option('--config <file>');
  registerConfig(program);
  program.parse(['--config', file, 'config', ...argv], { from: 'user' });
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

  it('check warns of settings that have no effect yet', () => {
    vi.stubEnv('ORDER_SYNC_EXCHANGE_BASE_URL', 'https://exchange.example');
    vi.stubEnv('ORDER_SYNC_EXCHANGE_API_KEY', 'k');
    const err = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    expect(runWith('/dev/null', 'check')).toMatch(/^The settings are sound/);
    expect(err).not.toHaveBeenCalled();
    vi.stubEnv('ORDER_SYNC_WEBHOOKS_URL', 'https://shop.example/hook');
    vi.stubEnv('ORDER_SYNC_OPS_LISTEN', '127.0.0.1:9999');
    runWith('/dev/null', 'check');
    expect(err.mock.calls.flat()).toEqual([
      'ops.listen has no effect in this version (from ORDER_SYNC_OPS_LISTEN)\n',
      'webhooks.url has no effect in this version (from ORDER_SYNC_WEBHOOKS_URL)\n',
    ]);
    vi.unstubAllEnvs();
  });

  it('check says what is missing', () => {
    expect(() => run('check')).toThrow(ConfigError);
  });
});
