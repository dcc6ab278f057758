import { deadline, type Clock } from '../../clock.ts';
import { randomHex } from '../random.ts';
import { photoForm, type PhotoDelivery, type PhotoOddity } from './photos.ts';

/** A delivery in the log, without its token and photos. */
export interface LoggedDelivery {
  readonly at: string;
  readonly linkId: string;
  readonly level: 'MAIN' | 'LIVENESS';
  readonly oddity?: PhotoOddity;
  /** The HTTP status of the merchant's answer; null when none came. */
  readonly status: number | null;
}

/** Options of deliveries. */
export interface DeliveryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  readonly onDelivery?: (delivery: LoggedDelivery) => void;
}

const MAX_LOGGED = 10_000;
const LONGEST_MS = 60_000;

/** Sends photos to the merchant (§6), once each: the interface does not show whether the exchange tries again. */
export class Deliveries {
  /** The newest deliveries that have ended. */
  readonly ended: LoggedDelivery[] = [];
  readonly #options: DeliveryOptions;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Begins a delivery; the log shows its end. */
  begin(delivery: PhotoDelivery): void {
    if (this.#closing.signal.aborted) return;
    const running = this.#deliver(delivery).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Aborts the deliveries that are in flight. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #deliver(delivery: PhotoDelivery): Promise<void> {
    const boundary = `sandbox-${randomHex(this.#options.random)}`;
    const form = photoForm(delivery, boundary);
    for (let times = delivery.oddity === 'repeated' ? 2 : 1; times > 0; times -= 1) {
      const status = await this.#post(delivery.url, form, boundary);
      this.#log(delivery, status);
    }
  }

  async #post(url: string, form: Buffer<ArrayBuffer>, boundary: string): Promise<number | null> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: form,
        redirect: 'manual',
        signal: AbortSignal.any([this.#closing.signal, deadline(LONGEST_MS)]),
      });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return null;
    }
  }

  #log({ linkId, level, oddity }: PhotoDelivery, status: number | null): void {
    const at = this.#options.clock.now().toISOString();
    const logged = { at, linkId, level, ...(oddity === undefined ? {} : { oddity }), status };
    this.ended.push(logged);
    if (this.ended.length > MAX_LOGGED) this.ended.shift();
    this.#options.onDelivery?.(logged);
  }
}
