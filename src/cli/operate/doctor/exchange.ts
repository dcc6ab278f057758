import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createConnection } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Command } from 'commander';
import type { Clock } from '../../../clock.ts';
import { withExchange } from '../../shared/exchange.ts';
import { EXIT } from '../../shared/exit.ts';
import { fault, ok, warning, type Finding } from './finding.ts';

const DAY_MS = 24 * 60 * 60_000;
/** A certificate that ends sooner should be renewed by now. */
const CERTIFICATE_MS = 14 * DAY_MS;

/** Whether the address of the exchange is found and takes connections, and its certificate holds. Sends nothing. */
export async function checkAddress(baseUrl: string, clock: Clock, signal: AbortSignal): Promise<readonly Finding[]> {
  const url = new URL(baseUrl);
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  const remedy = 'check exchange.baseUrl, the name server, the firewall and the proxy of this machine';
  try {
    await lookup(host, { all: true });
  } catch (error) {
    return [fault('address', EXIT.unavailable, `the name ${host} is not found (${codeOf(error)})`, remedy)];
  }
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  const socket = isTls ? connectTls({ host, port, servername: host }) : createConnection({ host, port });
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal });
    if (!('getPeerCertificate' in socket)) return [ok('address', `${host}:${port} takes connections`)];
    const endsAt = Date.parse(socket.getPeerCertificate().valid_to);
    const days = Math.floor((endsAt - clock.now().getTime()) / DAY_MS);
    const found = `${host}:${port} takes connections; its certificate holds for ${days} days`;
    const isSoon = endsAt - clock.now().getTime() < CERTIFICATE_MS;
    const facts = { certificateDays: days };
    return [isSoon ? warning('address', found, 'ask the exchange to renew it', facts) : ok('address', found, facts)];
  } catch (error) {
    return [fault('address', EXIT.unavailable, `no connection to ${host}:${port} (${codeOf(error)})`, remedy)];
  } finally {
    socket.destroy();
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
}

/** Whether the exchange takes the key: a look-up of an id that no order has, by the owner of the account where there is one. */
export async function checkKey(command: Command): Promise<Finding> {
  const externalOrderId = `order-sync-doctor-${randomUUID()}`;
  const result = await withExchange(command, (ask) => ask('lookUpOrder', { externalOrderId }));
  switch (result.kind) {
    case 'ok':
    case 'refused':
      return ok('key', 'the exchange takes the key');
    case 'key-refused': {
      const remedy = 'put the right key into the file that exchange.apiKey names; it is tried within a minute';
      return fault('key', EXIT.keyRefused, 'the exchange refuses the key (401)', remedy);
    }
    case 'rate-limited':
      return warning('key', 'the exchange limits the rate; nothing was asked', 'try again in a minute');
    case 'not-sent':
    case 'unknown':
      return fault('key', EXIT.unavailable, `the exchange gave no usable answer: ${result.why}`, 'order-sync probe');
    default:
      return fault('key', EXIT.unavailable, result.message, 'the log of the daemon says why');
  }
}
