import { nameAfter } from '../names.ts';
import { tamperingNamedIn } from '../orders/tampering.ts';

/** The faults that the sandbox can do to a request. After those in `NOT_TAKEN` the order is not taken. */
export const FAULTS = [
  'reset-before',
  'reset-after',
  'error-not-taken',
  'error-taken',
  'hang-before',
  'hang',
  'slow',
  'drip',
  'truncated',
  'wrong-json',
  'html',
  'redirect',
  'rate-limited',
] as const;

/** The name of a fault. */
export type Fault = (typeof FAULTS)[number];

/** Faults after which the exchange has not taken the order. */
export const NOT_TAKEN: readonly Fault[] = [
  'reset-before',
  'error-not-taken',
  'hang-before',
  'redirect',
  'rate-limited',
];

/** The probability of each fault, from 0 to 1. */
export type FaultPlan = Readonly<Partial<Record<Fault, number>>>;

/** The facts of a request that decide about its fault. */
export interface FaultedRequest {
  readonly call: 'create' | 'lookup';
  readonly externalOrderId: string | undefined;
  /** It is the first request of its kind for the id. */
  readonly isFirst: boolean;
}

const PREFIX = 'fault-';
const PREFIX_OF = { create: PREFIX, lookup: `${PREFIX}lookup-` } as const;

/** Tells whether an external order id names its fault. */
export function namesFault(externalOrderId: string | undefined): externalOrderId is string {
  return externalOrderId?.startsWith(PREFIX) === true;
}

/**
 * Decides the fault of a request. An external order id `fault-<name>-…` has that fault on its first create, and
 * `fault-lookup-<name>-…` on its first look-up. An id that names its tampering has none, so that its findings come from
 * the tampering alone. For other requests the fault is drawn from the plan with `random`.
 */
export function decideFault(plan: FaultPlan, request: FaultedRequest, random: () => number): Fault | undefined {
  const { call, externalOrderId, isFirst } = request;
  if (namesFault(externalOrderId)) return isFirst ? nameAfter(PREFIX_OF[call], externalOrderId, FAULTS) : undefined;
  if (externalOrderId !== undefined && tamperingNamedIn(externalOrderId) !== undefined) return undefined;
  let drawn = random();
  for (const fault of FAULTS) {
    drawn -= plan[fault] ?? 0;
    if (drawn < 0) return fault;
  }
  return undefined;
}
