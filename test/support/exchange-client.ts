import { systemClock, type Clock } from '../../src/base/clock.ts';
import type { CreateOutcome } from '../../src/orders/rules/create.ts';
import type { MerchantOrder } from '../../src/orders/rules/record.ts';
import type { AccountNews } from '../../src/accounts/rules/restraints.ts';
import type { AccountState } from '../../src/exchange/account.ts';
import { ExchangeClient } from '../../src/exchange/client.ts';
import type { ReadingSettings } from '../../src/exchange/orders.ts';
import { RateWindow, type RateLimit } from '../../src/exchange/transport/rate-window.ts';
import { httpTransport } from '../../src/exchange/transport/transport.ts';

/** Settings of a client that stands alone. */
export interface LoneClientOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly clock?: Clock;
  readonly concurrency?: number;
  readonly rate?: RateLimit;
  readonly reading?: ReadingSettings;
  readonly account?: AccountState;
}

/** An account without holds, and what its replies said of it. */
export function unheld(): AccountState & { readonly news: AccountNews[] } {
  const news: AccountNews[] = [];
  const note = (one: AccountNews) => void news.push(one);
  return { news, note, stoppedForMs: () => 0, isProbed: () => false, isInDoubt: false, now: () => new Date(0) };
}

/** The real client without an account: no lease, no database. */
export function loneClient({ baseUrl, apiKey, clock = systemClock(), ...options }: LoneClientOptions): ExchangeClient {
  return new ExchangeClient({
    transport: httpTransport({ baseUrl, apiKey: () => apiKey, timeoutMs: 60_000, maxResponseBytes: 100_000 }),
    clock,
    concurrency: options.concurrency ?? 8,
    window: new RateWindow(options.rate ?? { requests: 1_000, intervalMs: 1_000 }),
    lease: { ensure: async () => {}, isTrusted: () => true },
    account: options.account ?? unheld(),
    reading: options.reading ?? { absence: [], refusedBy: 'documented' },
  });
}

/** Creates a pre-order (§4.9) in a turn of its own. */
export async function createPreOrder(client: ExchangeClient, order: MerchantOrder): Promise<CreateOutcome> {
  using turn = await client.turnToCreate(order.externalOrderId, new AbortController().signal);
  if (turn === undefined) throw new Error('no turn came');
  return await client.createPreOrder(order, turn);
}
