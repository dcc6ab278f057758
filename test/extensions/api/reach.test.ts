import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { ConfigError } from '../../../src/settings/config.ts';
import { loadConfig } from '../../support/settings.ts';
import { reachOf } from '../../../src/extensions/api/reach.ts';

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

async function reachWith(more: NodeJS.ProcessEnv = {}) {
  const env = { ORDER_SYNC_DATABASE_URL: 'postgres://a@localhost/orders', ...more };
  const config = loadConfig({ env, cwd: folder, file: null, requireExchange: false });
  return await reachOf(config, systemClock());
}

async function serve(): Promise<string> {
  return (await reachWith()).socket;
}

/** Has somebody listen on a path. */
async function listening(path: string) {
  const server = createServer().listen(path);
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return server;
}

/** Leaves a socket file as a process that was killed does. */
async function left(path: string): Promise<void> {
  const server = await listening(`${path}.new`);
  renameSync(`${path}.new`, path);
  server.close();
  await once(server, 'close');
}

describe('the control socket of a worker', () => {
  it('is one of its own in a folder of this user', async () => {
    const [one, other] = [await serve(), await serve()];
    expect(one.startsWith(`${shared}/`)).toBe(true);
    expect(other).not.toBe(one);
  });

  it('is found under the name of the settings too, which one worker of the machine has at a time', async () => {
    const path = join(folder, 'control.sock');
    const start = async () => {
      const reach = await reachWith({ ORDER_SYNC_CONTROL_SOCKET: 'control.sock' });
      await listening(reach.socket);
      return { socket: reach.socket, name: await reach.publish() };
    };
    await left(path);
    const [one, other] = [await start(), await start()];
    expect(readlinkSync(path)).toBe(one.socket);
    other.name[Symbol.dispose]();
    expect(readlinkSync(path)).toBe(one.socket);
    one.name[Symbol.dispose]();
    expect(existsSync(path)).toBe(false);
  });

  it('names the path if none can be made', async () => {
    const reach = await reachWith({ ORDER_SYNC_CONTROL_SOCKET: 'no-folder/control.sock' });
    const refusal = { problem: 'disk', message: expect.stringContaining(join(folder, 'no-folder/control.sock')) };
    await expect(reach.publish()).rejects.toMatchObject(refusal);
  });

  it('takes no file that is no socket', async () => {
    writeFileSync(join(folder, 'control.sock'), 'orders');
    const reach = await reachWith({ ORDER_SYNC_CONTROL_SOCKET: 'control.sock' });
    await expect(reach.publish()).rejects.toThrow(ConfigError);
  });

  it('takes away what killed workers have left, and nothing that is new, is served or is no socket', async () => {
    mkdirSync(shared, { mode: 0o700 });
    const paths = ['left.sock', 'new.sock', 'served.sock', 'text.sock'].map((name) => join(shared, name));
    const [old = '', fresh = '', served = '', text = ''] = paths;
    await left(old);
    await left(fresh);
    await listening(served);
    writeFileSync(text, '');
    for (const path of [old, served, text]) utimesSync(path, 1, 1);
    await serve();
    expect(paths.map((path) => existsSync(path))).toEqual([false, true, true, true]);
  });
});
