import { randomUUID } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createConnection, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Command } from 'commander';
import type { Clock } from '../../../clock.ts';
import type { AccountSettings, Config } from '../../../config/config.ts';
import { isPublic } from '../../../flows/webhooks/sender.ts';
import { withExchange } from '../../shared/exchange.ts';
import { EXIT } from '../../shared/exit.ts';
import { fault, ok, warning, type CheckResult } from './check.ts';

const DAY_MS = 24 * 60 * 60_000;
/** A certificate that ends sooner should be renewed by now. */
const CERTIFICATE_MS = 14 * DAY_MS;

/** What an address is of, and what to do where it cannot be reached. */
interface Target {
  readonly check: string;
  readonly remedy: string;
  /** Every address of the host must be one of the internet. */
  readonly isPublicOnly: boolean;
}

const EXCHANGE: Target = {
  check: 'address',
  remedy: 'check exchange.baseUrl, the name server, the firewall and the proxy of this machine',
  isPublicOnly: false,
};

/** Whether a host is found and takes connections, and its certificate holds. Sends nothing. */
export async function checkAddress(
  address: string,
  clock: Clock,
  signal: AbortSignal,
  { check, remedy, isPublicOnly }: Target = EXCHANGE,
): Promise<readonly CheckResult[]> {
  const url = new URL(address);
  const host = url.hostname.replaceAll(/[[\]]/g, '');
  try {
    const found = await lookup(host, { all: true });
    if (isPublicOnly && !found.every((one) => isPublic(one.address))) {
      const advice = 'give the endpoint allowPrivate: true where it is meant to be in a private network';
      return [fault(check, EXIT.unavailable, `${host} has an address that is not of the internet`, advice)];
    }
  } catch (error) {
    return [fault(check, EXIT.unavailable, `the name ${host} is not found (${codeOf(error)})`, remedy)];
  }
  const isTls = url.protocol === 'https:';
  const port = Number(url.port || (isTls ? 443 : 80));
  const socket = isTls
    ? connectTls({ host, port, servername: isIP(host) > 0 ? '' : host })
    : createConnection({ host, port });
  try {
    await once(socket, isTls ? 'secureConnect' : 'connect', { signal });
    if (!('getPeerCertificate' in socket)) return [ok(check, `${host}:${port} takes connections`)];
    const endsAt = Date.parse(socket.getPeerCertificate().valid_to);
    const days = Math.floor((endsAt - clock.now().getTime()) / DAY_MS);
    const found = `${host}:${port} takes connections; its certificate holds for ${days} days`;
    const isSoon = endsAt - clock.now().getTime() < CERTIFICATE_MS;
    const facts = { certificateDays: days };
    return [isSoon ? warning(check, found, 'have it renewed', facts) : ok(check, found, facts)];
  } catch (error) {
    return [fault(check, EXIT.unavailable, `no connection to ${host}:${port} (${codeOf(error)})`, remedy)];
  } finally {
    socket.destroy();
  }
}

/** Whether a receiver of events can be reached. Nothing is sent to it: `webhooks test` does that. */
export async function checkWebhook(
  { url, allowPrivate }: Config['webhooks']['endpoints'][number],
  clock: Clock,
  signal: AbortSignal,
): Promise<readonly CheckResult[]> {
  const remedy = 'see that the receiver runs; events wait for it, none is lost';
  return await checkAddress(url, clock, signal, { check: 'webhook', remedy, isPublicOnly: !allowPrivate });
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
}

/** Whether the exchange takes the key: a look-up of an id that no order has, by the owner of the account where there is one. */
export async function checkKey(command: Command, config: AccountSettings): Promise<CheckResult> {
  const externalOrderId = `order-sync-doctor-${randomUUID()}`;
  const result = await withExchange(command, (ask) => ask('lookUpOrder', { externalOrderId }), config);
  switch (result.kind) {
    case 'ok':
    case 'refused':
      return ok('key', 'the exchange takes the key');
    case 'key-refused': {
      const remedy = 'put the right key into the file of exchange.apiKeyFile; it is tried within a minute';
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
