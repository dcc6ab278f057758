import Big from 'big.js';
import { amountField, currencyOf, readDecimal, type AmountSettings } from '../../base/decimal.ts';
import { sumOf } from '../../base/words.ts';
import type { MerchantOrder } from '../../orders/rules/record.ts';

/** `asset` is the most that orders of a pair may ask for in an hour: decimal text in `currency` (`from` or `to`). */
export type AssetLimit = Readonly<{ from: string; to: string; currency: string; asset: string }>;

export interface GuardSettings extends Pick<AmountSettings, 'outputPosition'> {
  readonly createsPerHour?: number | undefined;
  readonly assetPerHour: readonly AssetLimit[];
}

export type GuardedOrder = Pick<
  MerchantOrder,
  'externalOrderId' | 'asset' | 'assetPosition' | 'fromCurrency' | 'toCurrency'
>;

/** `wait`: the create fits only if the exchange does not take some of the creates in flight. */
export type GuardDecision =
  | { readonly kind: 'free' }
  | { readonly kind: 'wait' }
  | { readonly kind: 'guarded'; readonly reason: string };

export const GUARD_WINDOW_MS = 60 * 60_000;
/** Creates within this time share a bucket. The bucket counts until its last create is out of the window. */
const BUCKET_MS = 10_000;

type Amount = Readonly<{ limit: AssetLimit; value: Big }>;

interface Bucket {
  readonly start: number;
  creates: number;
  readonly assets: Map<AssetLimit, Big>;
}

export type CountedCreate = Readonly<{ bucket: Bucket; amount: Amount | undefined }>;

/** The creates of the last hour that the exchange may have taken, creates in flight too. Buckets bound the memory. */
export class CreateWindow {
  readonly #settings: GuardSettings;
  readonly #limits: ReadonlyMap<string, readonly AssetLimit[]>;
  readonly #inFlight = new Set<CountedCreate>();
  #buckets: Bucket[] = [];

  constructor(settings: GuardSettings) {
    this.#settings = settings;
    this.#limits = Map.groupBy(settings.assetPerHour, ({ from, to }) => pairOf(from, to));
  }

  decide(order: GuardedOrder, now: Date): GuardDecision {
    const before = now.getTime() - GUARD_WINDOW_MS - BUCKET_MS;
    this.#buckets = this.#buckets.filter(({ start }) => start > before);
    const amount = this.#amountOf(order);
    if (amount === 'incomparable') return { kind: 'guarded', reason: whyIncomparable(order) };
    const { createsPerHour } = this.#settings;
    const creates = sumOf(this.#buckets, (bucket) => bucket.creates);
    if (createsPerHour !== undefined && creates + 1 > createsPerHour) {
      if (creates - this.#inFlight.size + 1 <= createsPerHour) return { kind: 'wait' };
      const reason = `guard.createsPerHour is ${createsPerHour}, and ${creates} creates were sent in the last hour`;
      return { kind: 'guarded', reason };
    }
    return amount === undefined ? { kind: 'free' } : this.#decideAmount(order, amount);
  }

  #decideAmount({ externalOrderId }: GuardedOrder, { limit, value }: Amount): GuardDecision {
    const sent = sumOfAmounts(this.#buckets.map(({ assets }) => assets.get(limit)));
    if (sent.plus(value).lte(limit.asset)) return { kind: 'free' };
    const inFlight = [...this.#inFlight].map(({ amount }) => (amount?.limit === limit ? amount.value : undefined));
    const known = sent.minus(sumOfAmounts(inFlight));
    if (known.plus(value).lte(limit.asset)) return { kind: 'wait' };
    const { from, to, currency, asset } = limit;
    const what = `guard.assetPerHour of ${from} to ${to} is ${asset} ${currency}`;
    const id = JSON.stringify(externalOrderId);
    const reason = value.gt(asset)
      ? `${what}, and the order ${id} alone is ${value.toFixed()}: cancel it, or raise the limit`
      : `${what}, ${sent.toFixed()} were sent in the last hour, and the order ${id} is ${value.toFixed()}`;
    return { kind: 'guarded', reason };
  }

  add(order: GuardedOrder, at: Date): CountedCreate {
    const amount = this.#amountOf(order);
    const counted = { bucket: this.#bucketAt(at), amount: amount === 'incomparable' ? undefined : amount };
    change(counted, 1);
    this.#inFlight.add(counted);
    return counted;
  }

  settle(counted: CountedCreate, mayBeTaken: boolean): void {
    this.#inFlight.delete(counted);
    if (!mayBeTaken) change(counted, -1);
  }

  clear(): void {
    this.#buckets = [];
    this.#inFlight.clear();
  }

  #bucketAt(at: Date): Bucket {
    const start = Math.floor(at.getTime() / BUCKET_MS) * BUCKET_MS;
    const last = this.#buckets.at(-1);
    // If the clock went back, the last bucket counts the create for longer than an hour.
    if (last !== undefined && last.start >= start) return last;
    const bucket = { start, creates: 0, assets: new Map<AssetLimit, Big>() };
    this.#buckets.push(bucket);
    return bucket;
  }

  #amountOf(order: GuardedOrder): Amount | 'incomparable' | undefined {
    const { fromCurrency, toCurrency, asset, assetPosition } = order;
    const limits = this.#limits.get(pairOf(fromCurrency, toCurrency));
    if (limits === undefined) return undefined;
    const field = amountField(assetPosition, this.#settings);
    const currency = field === undefined ? null : currencyOf(field, order);
    const limit = limits.find((one) => currency !== null && codeOf(one.currency) === codeOf(currency));
    const value = readDecimal(asset);
    return limit === undefined || !value.ok ? 'incomparable' : { limit, value: value.value };
  }
}

function whyIncomparable({ externalOrderId, fromCurrency, toCurrency, assetPosition }: GuardedOrder): string {
  const what = `guard.assetPerHour has no limit that the order ${JSON.stringify(externalOrderId)} can be compared with`;
  return `${what}: ${fromCurrency} to ${toCurrency}, position ${assetPosition}; add one in the currency of its asset, or set exchange.outputPosition`;
}

function change({ bucket, amount }: CountedCreate, by: 1 | -1): void {
  bucket.creates += by;
  if (amount === undefined) return;
  const { limit, value } = amount;
  bucket.assets.set(limit, sumOfAmounts([bucket.assets.get(limit), value.times(by)]));
}

function sumOfAmounts(amounts: readonly (Big | undefined)[]): Big {
  return amounts.reduce<Big>((sum, amount) => (amount === undefined ? sum : sum.plus(amount)), new Big(0));
}

/** The exchange may take a code in upper or lower case. */
function codeOf(currency: string): string {
  return currency.trim().toUpperCase();
}

function pairOf(from: string, to: string): string {
  return JSON.stringify([codeOf(from), codeOf(to)]);
}
