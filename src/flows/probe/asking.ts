import { randomUUID } from 'node:crypto';
import type { Evidence, Examined } from '../../exchange/examine.ts';
import type { FailedReply, UnreadReply } from '../../exchange/reply.ts';
import type { HttpRequest } from '../../exchange/transport.ts';
import type { FlowDeps } from '../pass/deps.ts';

/** The parts of a probe, each of one request or few. Only `order` and `repeat` make anything. */
export const PROBE_STEPS = ['absence', 'ids', 'key', 'order', 'repeat', 'rate'] as const;
export type ProbeStep = (typeof PROBE_STEPS)[number];

/** What the exchange does about a point that the document leaves open. */
export interface ProbeRow {
  readonly question: string;
  readonly seen: string;
  /** What order-sync does about it, and what is left to a person. */
  readonly follows: string;
  /** A value of a setting that follows, by its path. */
  readonly setting?: { readonly path: string; readonly value: unknown };
  /** A person should look at it. */
  readonly isOdd: boolean;
}

/** What came of one step. */
export type Probed =
  | { readonly kind: 'ok'; readonly rows: readonly ProbeRow[]; readonly evidence: readonly Evidence[] }
  /** Nothing was asked. */
  | { readonly kind: 'invalid'; readonly message: string }
  /** Nothing can be learned now. */
  | { readonly kind: 'failed'; readonly reply: FailedReply };

/** Asks for one step of a probe, and keeps the answers. */
export class Asking {
  readonly evidence: Evidence[] = [];
  readonly #deps: Pick<FlowDeps, 'exchange'>;
  readonly #signal: AbortSignal | undefined;

  constructor(deps: Pick<FlowDeps, 'exchange'>, signal: AbortSignal | undefined) {
    this.#deps = deps;
    this.#signal = signal;
  }

  async ask(request: HttpRequest, enough?: AbortSignal): Promise<Examined> {
    const signals = [this.#signal, enough].filter((signal) => signal !== undefined);
    const examined = await this.#deps.exchange.examine(request, AbortSignal.any(signals));
    this.evidence.push(examined.evidence);
    return examined;
  }

  found(...rows: ProbeRow[]): Probed {
    return { kind: 'ok', rows, evidence: this.evidence };
  }
}

/** The reply where it says that nothing can be learned now: none came, or it speaks of the account. */
export function failureOf(reply: UnreadReply): FailedReply | undefined {
  if (reply.kind === 'ok' || reply.kind === 'refused') return undefined;
  if (reply.kind !== 'unknown') return reply;
  return reply.answer === undefined || reply.answer.httpStatus >= 500 ? { kind: 'unknown', why: reply.why } : undefined;
}

/** An id that nobody has. */
export function unknownId(): string {
  return `order-sync-probe-${randomUUID()}`;
}

const LONGEST_SHOWN = 160;

/** An answer in one line. */
export function shown({ status, body, why }: Evidence): string {
  if (status === null) return `no answer: ${why}`;
  const text = body.trim();
  if (text === '') return `${status}, empty`;
  return `${status} ${text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)} …` : text}`;
}
