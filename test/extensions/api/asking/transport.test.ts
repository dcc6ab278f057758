import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig } from '../../../support/settings.ts';
import { controlSocketOf, controlSocketPath } from '../../../../src/extensions/api/asking/transport.ts';

const LONG = `/srv/${'d'.repeat(120)}/orders.db`;
let folder = '';
let shared = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
  shared = join(folder, `order-sync-${userInfo().uid}`);
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
});

describe('the path of the control socket', () => {
  it('is beside the database if that is short enough', () => {
    expect(controlSocketPath('/var/lib/order-sync/orders.db')).toBe('/var/lib/order-sync/orders.db.sock');
    expect(controlSocketPath(`/${'a'.repeat(97)}`)).toBe(`/${'a'.repeat(97)}.sock`);
  });

  it('is that of control.socket if the settings have one', () => {
    const of = (env: NodeJS.ProcessEnv) =>
      controlSocketOf(loadConfig({ env, cwd: '/srv', file: null, requireExchange: false }));
    expect(of({ ORDER_SYNC_CONTROL_SOCKET: 'run/a.sock' })).toBe('/srv/run/a.sock');
    expect(of({ ORDER_SYNC_DATABASE_URL: 'sqlite:/orders.db' })).toBe('/orders.db.sock');
  });

  it('counts bytes, not characters', () => {
    expect(controlSocketPath(`/${'é'.repeat(49)}`)).toMatch(new RegExp(`^${RegExp.escape(shared)}/`));
  });

  it("is in a folder of this user's own if it is not, another one for each database", () => {
    const path = controlSocketPath(LONG);
    expect(path).toMatch(new RegExp(`^${RegExp.escape(shared)}/[0-9a-f]{24}\\.sock$`));
    expect(statSync(shared).mode & 0o777).toBe(0o700);
    expect(controlSocketPath(LONG)).toBe(path);
    expect(controlSocketPath(`${LONG}2`)).not.toBe(path);
  });

  it.each<[string, () => void]>([
    [
      'others can open',
      () => {
        mkdirSync(shared);
        chmodSync(shared, 0o750);
      },
    ],
    ['is a file', () => writeFileSync(shared, '')],
    [
      'is a link to somewhere else',
      () => {
        mkdirSync(join(folder, 'elsewhere'), { mode: 0o700 });
        symlinkSync(join(folder, 'elsewhere'), shared);
      },
    ],
  ])('is not in a folder that %s', (_name, make) => {
    make();
    expect(() => controlSocketPath(LONG)).toThrow(shared);
  });
});
