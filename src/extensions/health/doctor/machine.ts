import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createConnection, isIP } from 'node:net';
import { dirname } from 'node:path';
import { lookup } from 'node:dns/promises';
import { connect as connectTls } from 'node:tls';
import type { Command } from 'commander';
import type { DaemonStatus } from '../status/status.ts';
import { keyRemedy, problem } from '../../commands/problem.ts';
import type { Config, AccountSettings } from '../../../settings/config.ts';
import type { ListenAddress } from '../../http/settings.ts';
import { keyPlace } from '../../../settings/settings-file.ts';
import { healthSettings } from '../settings.ts';
import { EXIT } from '../../../cli/shared/exit.ts';
import { readDisk } from '../ops/readings.ts';
import { fault, ofProblem, ok, warning, type CheckResult } from './check.ts';
import { systemClock } from '../../../base/clock.ts';
import { tryKey } from '../../api/asking/ask.ts';
import { apiSettings } from '../../api/settings.ts';
import { PRIVATE_ADDRESS, receiverRemedy } from '../../webhooks/receiver.ts';
import { isPublic } from '../../webhooks/sender.ts';

const GIB = 1_024 ** 3;
const NO_BYTES = GIB / 10;
const OTHERS = 0o007;
const OTHERS_WRITE = 0o002;
const GROUP_AND_OTHERS = 0o077;

export function checkRuntime(version: string): CheckResult {
  return ok('runtime', `order-sync ${version}, Node ${process.versions.node} on ${process.platform} ${process.arch}`);
}

export function checkFiles({ accounts, database }: Config): readonly CheckResult[] {
  const secrets = accounts.flatMap(({ exchange }) => exchange.apiKeyFile ?? []);
  const files: (readonly [path: string, denied: number, mode: string])[] = [];
  if (database.kind === 'sqlite') {
    for (const end of ['', '-wal', '.mark', '.lock']) files.push([database.path + end, OTHERS, '600']);
    files.push([dirname(database.path), OTHERS_WRITE, 'o-w']);
  } else {
    if (database.passwordFile !== undefined) secrets.push(database.passwordFile);
    files.push([database.marks, OTHERS, '600']);
  }
  files.unshift(...[...new Set(secrets)].map((path) => [path, GROUP_AND_OTHERS, '600'] as const));
  const results = files.flatMap(([path, denied, mode]) => {
    const stat = statSync(path, { throwIfNoEntry: false });
    // Only files and folders are checked. A setting may also name a pipe, for example one that supplies the key.
    if (stat === undefined || !(stat.isFile() || stat.isDirectory())) return [];
    const bits = stat.mode & 0o777;
    if ((bits & denied) !== 0) {
      const found = `${path} has mode ${bits.toString(8)}: other users can ${denied === OTHERS_WRITE ? 'put files into it' : 'read it'}`;
      return [warning('permissions', found, `chmod ${mode} ${path}`)];
    }
    const user = process.getuid?.();
    if (user === undefined || user === 0 || stat.uid === user) return [];
    const found = `${path} belongs to another user (${stat.uid})`;
    return [warning('permissions', found, 'run order-sync doctor as the user of the daemon')];
  });
  return results.length > 0 ? results : [ok('permissions', 'other users can read neither the key nor the database')];
}

export async function checkDisk({ database }: Config): Promise<readonly CheckResult[]> {
  const { folder, freeBytes } = await readDisk(database);
  const found = `${(freeBytes / GIB).toFixed(1)} GiB free in ${folder}`;
  const facts = { freeBytes };
  if (freeBytes < NO_BYTES) return [fault('disk', EXIT.disk, found, 'free space: a full disk stops creates', facts)];
  if (freeBytes < GIB) return [warning('disk', found, 'free space before the disk is full', facts)];
  return [ok('disk', found, facts)];
}

export function checkService(pid: number | undefined, driver: string | undefined): CheckResult {
  if (pid === undefined && driver !== undefined) {
    return ofProblem('service', problem('silent-owner', `${driver} owns the account but does not answer`));
  }
  if (pid === undefined) {
    const remedy = 'start the daemon under pm2 or systemd with order-sync run (docs/operations.md)';
    return warning('service', 'no daemon answers', remedy);
  }
  const manager = managerOf(pid);
  const facts = { manager: manager ?? 'none' };
  if (manager !== undefined) return ok('service', `the daemon (process ${pid}) runs under ${manager}`, facts);
  const found = `the daemon (process ${pid}) runs without pm2 or systemd`;
  return warning('service', found, 'run it under pm2 or systemd, which restart it (docs/operations.md)', facts);
}

function managerOf(pid: number): 'pm2' | 'systemd' | undefined {
  try {
    const read = (id: number, file: string) => readFileSync(`/proc/${id}/${file}`, 'utf8');
    for (let [id, steps] = [pid, 0]; id > 0 && steps < 3; steps += 1) {
      id = Number(/^PPid:\s*(\d+)$/m.exec(read(id, 'status'))?.[1] ?? 0);
      if (id === 0) break;
      const name = `${read(id, 'comm')} ${read(id, 'cmdline')}`;
      if (name.includes('PM2')) return 'pm2';
      if (name.startsWith('systemd')) return 'systemd';
    }
  } catch {
    // `/proc` cannot be read, for example because the system is not Linux or the process has ended.
  }
  return undefined;
}

export async function checkOps(config: Config, daemon: DaemonStatus | undefined, signal: AbortSignal) {
  const { listen } = healthSettings.of(config).ops;
  if (listen === undefined) return ok('ops', 'ops.listen is off: no metrics, no dashboard');
  const failure = daemon?.opsFailure ?? null;
  if (failure === null) return await checkPort('ops', listen, daemon !== undefined, signal);
  const found = `the daemon does not listen on ${listen.host}:${listen.port}: ${failure}`;
  return ofProblem('ops', problem('ops', found));
}

export async function checkApi(config: Config, daemon: object | undefined, signal: AbortSignal) {
  const { listen } = apiSettings.of(config).api;
  return listen === undefined ? [] : [await checkPort('api', listen, daemon !== undefined, signal)];
}

async function checkPort(name: 'ops' | 'api', listen: ListenAddress, isUp: boolean, signal: AbortSignal) {
  const address = `${listen.host}:${listen.port}`;
  if (listen.port === 0) return ok(name, `${address} means any free port; the daemon's log names the port`);
  const isTaken = await listens(listen.host.replaceAll(/[[\]]/g, ''), listen.port, signal);
  if (isTaken && isUp) return ok(name, `the daemon listens on ${address}`);
  if (!isTaken && !isUp) return ok(name, `${address} is free for the daemon`);
  const found = isTaken ? `another program listens on ${address}` : `the daemon does not listen on ${address}`;
  return warning(name, found, `set ${name}.listen to a free port, or to off`);
}

async function listens(host: string, port: number, signal: AbortSignal): Promise<boolean> {
  const socket = createConnection({ host, port });
  const connected = await once(socket, 'connect', { signal }).catch(() => undefined);
  socket.destroy();
  return connected !== undefined;
}

const DAY_MS = 24 * 60 * 60_000;
const CERTIFICATE_MS = 14 * DAY_MS;

const ADDRESS_REMEDY =
  'check exchange.baseUrl, the name server, the firewall and the proxy of this machine; if they are right, the exchange itself may be down: ask it';

export async function checkAddress(check: string, address: string, signal: AbortSignal, isPublicOnly = false) {
  // A receiver that is down is no fault, because orders still reach the exchange.
  const failed = (found: string, cause: string) =>
    check === 'webhook'
      ? warning(check, found, receiverRemedy(cause))
      : fault(check, EXIT.unavailable, found, ADDRESS_REMEDY);
  const url = new URL(address);
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  try {
    const found = await lookup(host, { all: true });
    if (isPublicOnly && !found.every((one) => isPublic(one.address)))
      return [failed(`${host} has an address that is not public`, PRIVATE_ADDRESS)];
  } catch (error) {
    return [failed(`the name ${host} is not found (${codeOf(error)})`, codeOf(error))];
  }
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  const socket = isTls
    ? connectTls({ host, port, servername: isIP(host) > 0 ? '' : host })
    : createConnection({ host, port });
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal });
    if (!('getPeerCertificate' in socket)) return [ok(check, `${host}:${port} accepts connections`)];
    const leftMs = Date.parse(socket.getPeerCertificate().valid_to) - systemClock().now().getTime();
    const days = Math.floor(leftMs / DAY_MS);
    const found = `${host}:${port} accepts connections; its certificate is valid for ${days} days`;
    const facts = { certificateDays: days };
    return [leftMs < CERTIFICATE_MS ? warning(check, found, 'renew the certificate', facts) : ok(check, found, facts)];
  } catch (error) {
    return [failed(`no connection to ${host}:${port} (${codeOf(error)})`, codeOf(error))];
  } finally {
    socket.destroy();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
}

/** Checks that the exchange accepts the key. If a daemon owns the account, the daemon asks with the key it uses. */
export async function checkKey(command: Command, config: AccountSettings): Promise<CheckResult> {
  const place = keyPlace(config.exchange);
  const result = await tryKey(command, config);
  const again = config.exchange.apiKeyFile === undefined ? '' : `; the daemon reads ${place} again every minute`;
  const key = result.isAlone ? `the key in ${place}` : `the key that the daemon uses${again}`;
  switch (result.kind) {
    case 'ok':
    case 'refused':
      return ok('key', `the exchange accepts ${key}`);
    case 'key-refused':
      return fault('key', EXIT.keyRefused, `the exchange refuses ${key}`, keyRemedy(place));
    case 'rate-limited':
      return warning('key', 'the exchange limits the rate, so the key was not checked', 'try again in a minute');
    case 'not-sent':
      return warning('key', `the key was not checked: ${result.why}`, ADDRESS_REMEDY);
    case 'unknown':
      return fault('key', EXIT.unavailable, `the exchange gave no usable answer: ${result.why}`, 'order-sync probe');
    default:
      return fault('key', EXIT.unavailable, result.message, "read the daemon's log");
  }
}
