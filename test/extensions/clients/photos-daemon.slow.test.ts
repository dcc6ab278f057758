import { CLIENT_OPERATIONS } from '../../../src/extensions/clients/addresses.ts';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { loadConfig } from '../../support/settings.ts';
import { runDaemon } from '../../support/daemon.ts';
import { Owner } from '../../../src/extensions/api/asking/client.ts';
import { controlSocketPath, socketTransport } from '../../../src/extensions/api/asking/transport.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { runProgram } from '../../support/cli-function.ts';
import { testProcesses, type Daemon, type ProgramProcesses } from '../../support/program-processes.ts';
import { detailsPart, filePart, head, multipart } from '../../support/multipart.ts';
import { JPEG } from '../../support/photo-program.ts';
import { rawClient, type RawClient } from '../../support/raw-client.ts';
import { testClock } from '../../support/test-clock.ts';

const LISTEN = { ORDER_SYNC_PHOTOS_LISTEN: '127.0.0.1:0' };
const RECEIVED = 'photos were received';

/** Resolves with the line of the daemon's log that has this message. */
async function logged(daemon: Daemon, message: string): Promise<Record<string, unknown>> {
  for (;;) {
    const lines = daemon.output().split('\n').slice(0, -1);
    const found = lines.find((line) => line.includes(`"msg":"${message}"`));
    if (found !== undefined) return JSON.parse(found) as Record<string, unknown>;
    if (daemon.process.stdout === null) throw new Error('the daemon has no output');
    await once(daemon.process.stdout, 'data');
  }
}

/** Starts the daemon, and tells the exchange the address at which it receives photos. */
async function receiving(on: ProgramProcesses): Promise<{ daemon: Daemon; url: string }> {
  const daemon = await on.start(['run']);
  const url = String((await logged(daemon, 'listening for photos'))['url']);
  on.sandbox.exchange.photoUrl = url;
  return { daemon, url };
}

/** Makes a link and asks for its photos, as the merchant's own program does: over the control socket. */
async function ask(on: ProgramProcesses, email: string): Promise<string> {
  const owner = new Owner(socketTransport(controlSocketPath(on.path)), { account: 'default', graceMs: 60_000 });
  const made = await owner.ask(CLIENT_OPERATIONS.createLink, { email });
  const { linkId } = JSON.parse(made.kind === 'ok' ? made.body : '{}') as { linkId: string };
  const asked = await owner.ask(CLIENT_OPERATIONS.requestPhotos, { linkId, level: 'MAIN' });
  expect([made.kind, asked.kind]).toEqual(['ok', 'ok']);
  return linkId;
}

/** A connection in the middle of an upload. */
async function uploading(url: string, body: Buffer, cut: number): Promise<RawClient> {
  const client = rawClient(url);
  client.send(`${head(`content-length: ${body.length}`, 'expect: 100-continue')}\r\n`);
  await client.until(/^HTTP\/1\.1 100 /);
  client.send(body.subarray(0, cut));
  return client;
}

function files(on: ProgramProcesses): string[] {
  const folder = join(dirname(on.path), 'data/photos');
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return paths.filter((path) => path.startsWith('.incoming/') || statSync(join(folder, path)).isFile()).toSorted();
}

/** Runs a command beside the daemon. */
async function run(on: ProgramProcesses, ...args: string[]): Promise<{ code: number; output: string }> {
  const { code, stdout, stderr } = await runProgram(args, { cwd: dirname(on.path), environment: on.environment });
  return { code, output: stdout + stderr };
}

/** The same as a process of its own. */
async function runProcess(on: ProgramProcesses, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const command = await on.start(args);
  const { code } = await command.exit;
  return { code, output: command.output() };
}

describe('the daemon with photos.listen', () => {
  it('receives what the exchange delivers; photos list shows it and photos purge takes it away', async () => {
    const on = await testProcesses({}, LISTEN);
    const { daemon } = await receiving(on);
    const linkId = await ask(on, 'canary.person@shop.example');
    expect(await logged(daemon, RECEIVED)).toMatchObject({ linkId, verificationLevel: 'MAIN', files: 2 });

    const { code, output } = await runProcess(on, 'photos', 'list', linkId, '--json');
    const rows = JSON.parse(output) as { stored_name: string; size: number }[];
    expect([code, rows]).toMatchObject([
      0,
      [
        { link_id: linkId, level: 'MAIN', original_name: 'portrait.png', type: 'image/png' },
        { link_id: linkId, level: 'MAIN', original_name: 'document.jpg', type: 'image/jpeg' },
      ],
    ]);
    expect(files(on)).toEqual(rows.map((row) => row.stored_name).toSorted());
    const table = await run(on, 'photos', 'list', '--limit', '1');
    expect(table.output).toMatch(/ portrait\.png +image\/png[^]*only the first 1 are shown: --limit shows more\n$/);
    expect(table.output).not.toMatch(/document/);
    expect(JSON.parse((await run(on, 'photos', 'list', 'other', '--json')).output)).toEqual([]);

    expect(await run(on, 'photos', 'purge', '--older-than', '1h')).toEqual({
      code: 0,
      output: '0 photos purged\n',
    });
    expect(files(on)).toHaveLength(2);
    const purged = await runProcess(on, 'photos', 'purge', '--older-than', '1ms', '--json');
    expect(purged).toEqual({ code: 0, output: '{"purged":2,"notFound":0}\n' });
    expect(files(on)).toEqual([]);
    const stored = ['', '-wal'].map((ending) => readFileSync(`${on.path}${ending}`, 'latin1')).join('');
    expect(daemon.output() + stored).not.toMatch(/canary/);
  });

  it('finishes at SIGTERM what is arriving, and exits 0', async () => {
    const on = await testProcesses({}, LISTEN);
    const { daemon, url } = await receiving(on);
    const body = multipart(detailsPart('canary-token'), filePart(JPEG));
    const client = await uploading(url, body, 80);
    daemon.process.kill('SIGTERM');
    await logged(daemon, 'stopping: no new work begins, requests in flight are finished');
    client.send(body.subarray(80));
    expect(await client.closed).toMatch(/HTTP\/1\.1 403 [^]*connection: close/i);
    expect(await daemon.exit).toEqual({ code: 0, signal: null });
    expect([files(on), daemon.output().includes('canary')]).toEqual([[], false]);
  });

  it('cuts off what has not arrived when its time to stop is over, and leaves nothing of it', async () => {
    const on = await testProcesses({}, LISTEN);
    const clock = testClock();
    const log = capturedLog();
    const config = loadConfig({ env: on.environment, cwd: dirname(on.path), requireExchange: true });
    const stopping = new AbortController();
    const ready = Promise.withResolvers<void>();
    const ended = runDaemon(config, stopping.signal, ready.resolve, { clock, log: log.logger });
    await Promise.race([ready.promise, ended]);
    const body = multipart(filePart(JPEG), detailsPart('t'));
    const client = await uploading(String(log.with('listening for photos')[0]?.['url']), body, 140);
    const isStopping = log.next(/^stopping/);
    stopping.abort();
    await isStopping;
    clock.advance(16_000);
    await Promise.all([ended, client.closed]);
    expect(files(on)).toEqual([]);
    expect(log.with('stopped')).toHaveLength(1);
  });

  it('clears up when it starts after it was killed in the middle of a delivery', async () => {
    const on = await testProcesses({}, LISTEN);
    const first = await receiving(on);
    const body = multipart(filePart(JPEG), detailsPart('t'));
    const client = await uploading(first.url, body, 140);
    while (!files(on).some((path) => /^\.incoming\/[0-9a-f]+\/./.test(path))) await systemClock().turn();
    first.daemon.process.kill('SIGKILL');
    await Promise.all([first.daemon.exit, client.closed]);
    expect(files(on)).not.toEqual([]);
    const second = await receiving(on);
    expect(await logged(second.daemon, 'interrupted photo deliveries were cleaned up')).toMatchObject({
      deliveries: 1,
    });
    expect(files(on)).toEqual([]);
  });

  it('says that another program listens there, and exits 78', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    onTestFinished(() => void other.close());
    const listen = `127.0.0.1:${(other.address() as AddressInfo).port}`;
    const on = await testProcesses({}, { ORDER_SYNC_PHOTOS_LISTEN: listen });
    const { code, output } = await runProcess(on, 'run');
    expect([code, output]).toEqual([
      78,
      expect.stringContaining(`order-sync: photos.listen ${listen} cannot be used: another program listens there`),
    ]);
  });

  it('does not listen unless it is told to', async () => {
    const on = await testProcesses();
    const daemon = await on.start(['run']);
    await logged(daemon, 'order-sync is ready');
    expect(daemon.output()).not.toMatch(/listening for photos/);
  });

  it('takes no duration for a purge that it cannot read', async () => {
    const on = await testProcesses({}, LISTEN);
    const { code, output } = await run(on, 'photos', 'purge', '--older-than', '90');
    expect([code, output]).toEqual([64, expect.stringMatching(/must be a duration above zero with its unit/)]);
    expect((await run(on, 'photos', 'purge')).code).toBe(64);
  });
});
