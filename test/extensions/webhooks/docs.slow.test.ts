import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { FeedEvent } from '../../../src/extensions/feed/event.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { testProcesses } from '../../support/program-processes.ts';
import { SECRET } from '../../support/webhooks.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MANUAL = readFileSync(join(ROOT, 'docs/webhooks.md'), 'utf8');

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** The shop of the manual, as a process of its own. */
function shopOfManual(port: number) {
  const folder = temporaryFolder();
  const [, code = ''] = /\n## Receive each event once\n[^]*?\n```js\n([^]*?)\n```\n/.exec(MANUAL) ?? [];
  writeFileSync(join(folder, 'shop.mjs'), code);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const path = join(folder, 'shop.db');
  let child: ChildProcess;
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    code,
    open() {
      child = fork(join(folder, 'shop.mjs'), [String(port), path], {
        env: { WEBHOOK_SECRET: SECRET },
        stdio: 'ignore',
        cwd: folder,
      });
    },
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
    /** The events that it has taken, in their order; empty before it has made its file. */
    seen(): FeedEvent[] {
      try {
        const db = new Database(path, { readonly: true, fileMustExist: true });
        const bodies = db.prepare('select body from seen order by rowid').pluck().all() as string[];
        db.close();
        return bodies.map((body) => JSON.parse(body) as FeedEvent);
      } catch {
        return [];
      }
    },
  };
}

it('the shop of the manual takes every event once, in order per order, over SIGKILL of either side', async () => {
  const port = await freePort();
  const endpoint = { url: `http://127.0.0.1:${port}/`, secrets: [SECRET], allowPrivate: true };
  const on = await testProcesses({}, { ORDER_SYNC_WEBHOOKS_ENDPOINTS: JSON.stringify([endpoint]) });
  const shop = shopOfManual(port);
  expect(shop.code.split('\n').length).toBeLessThanOrEqual(32);
  shop.open();
  let daemon = await on.start(['run']);
  const waitFor = async (count: number) =>
    await vi.waitFor(() => expect(shop.seen().length).toBeGreaterThanOrEqual(count), { timeout: 60_000, interval: 50 });
  on.insert(100, 'first');
  await waitFor(20);
  await shop.kill();
  on.insert(50, 'second');
  shop.open();
  await waitFor(250);
  daemon.process.kill('SIGKILL');
  await daemon.exit;
  on.insert(50, 'third');
  daemon = await on.start(['run']);
  const ids = () => on.merchant.prepare('select substr(hash, 1, 32) from events order by id').pluck().all() as string[];
  await vi.waitFor(
    () => {
      expect(on.states()).toEqual({ final: 200 });
      expect(shop.seen()).toHaveLength(ids().length);
    },
    { timeout: 90_000, interval: 100 },
  );
  const seen = shop.seen();
  expect(seen.map(({ id }) => id).toSorted()).toEqual(
    ids()
      .map((hash) => `evt_${hash}`)
      .toSorted(),
  );
  const cursors = Map.groupBy(seen, ({ data }) => ('externalOrderId' in data ? data.externalOrderId : ''));
  for (const events of cursors.values()) {
    const order = events.map(({ cursor }) => cursor);
    expect(order).toEqual(order.toSorted((one, other) => one - other));
  }
  // The canary of the log: no secret of a receiver.
  expect(daemon.output()).not.toContain(SECRET);
  daemon.process.kill('SIGTERM');
  expect((await daemon.exit).code).toBe(0);
});
