import type { Clock } from '../base/clock.ts';
import type { Answer } from '../orders/rules/record.ts';
import type { AccountState } from './account.ts';
import type { GateOptions } from './transport/gate.ts';
import type { ReadingSettings } from './orders.ts';
import type { AskedFor } from './reply.ts';
import type { VerificationLevel } from './schemas.ts';
import type { Transport } from './transport/http.ts';

export interface PhotoRequest {
  readonly level: VerificationLevel;
  /** Taken by the exchange with the level `LIVENESS` only. */
  readonly actionId?: string | undefined;
  /** Comes back with the delivery (§6). */
  readonly token?: string | undefined;
}

export interface Asking {
  /** Called with a success that cannot be read. */
  readonly onUnread?: (answer: Answer) => void;
  readonly asked?: AskedFor;
  /** `INVALID_VALUE` (§4.5: no delivery address) counts with any HTTP status but 401 and 429. */
  readonly isForPhotos?: true;
}

export interface ClientOptions extends GateOptions {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly reading: ReadingSettings;
  readonly account: AccountState;
  /** `ensure` resolves once a request may leave, and rejects if none may. */
  readonly lease: { ensure(): Promise<void> };
  /** Requests in flight are broken off. */
  readonly gracePeriodOver?: AbortSignal;
}

export function aboutLink(linkId: string): AskedFor {
  return { what: 'link', field: 'linkId', id: linkId };
}
