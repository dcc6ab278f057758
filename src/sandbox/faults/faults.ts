import { nameAfter } from '../names.ts';
import { tamperingNamedIn } from '../orders/tampering.ts';

/** What the sandbox can do to a request. Those in `NOT_TAKEN` leave the order untaken, the others take it. */
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

/** How likely each fault is, from 0 to 1. */
export type FaultPlan = Readonly<Partial<Record<Fault, number>>>;

/** A request as the faults see it. */
export interface FaultedRequest {
  readonly call: 'create' | 'lookup';
  readonly externalOrderId: string | undefined;
  /** Whether it is the first of this call for the id. */
  readonly isFirst: boolean;
}

const PREFIX = 'fault-';
const PREFIX_OF = { create: PREFIX, lookup: `${PREFIX}lookup-` } as const;

/** Whether an external order id names its fault by itself. */
export function namesFault(externalOrderId: string | undefined): externalOrderId is string {
  return externalOrderId?.startsWith(PREFIX) === true;
}

/**
 * The fault for a request. An external order id `fault-<name>-…` has that fault on its first create and
 * `fault-lookup-<name>-…` on its first look-up, whatever the plan says; one that names its tampering has none, so that
 * what is found of it is what was done. Other requests have the plan's, drawn with `random`.
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
