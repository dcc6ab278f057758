/** What the sandbox can do to a request. `-before` and `-not-taken` leave the order untaken, the others take it. */
export const FAULTS = [
  'reset-before',
  'reset-after',
  'error-not-taken',
  'error-taken',
  'hang-before',
  'hang',
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

const PREFIX = 'fault-';

/**
 * The fault for a request. An external order id `fault-<name>-…` has that fault on its first create, whatever the plan
 * says; other requests have the plan's, drawn with `random`.
 */
export function decideFault(
  plan: FaultPlan,
  request: { externalOrderId?: string | undefined; isFirstCreate: boolean },
  random: () => number,
): Fault | undefined {
  const id = request.externalOrderId;
  if (id?.startsWith(PREFIX) === true) {
    if (!request.isFirstCreate) return undefined;
    return FAULTS.filter((fault) => id.startsWith(`${PREFIX}${fault}-`)).toSorted((a, b) => b.length - a.length)[0];
  }
  let drawn = random();
  for (const fault of FAULTS) {
    drawn -= plan[fault] ?? 0;
    if (drawn < 0) return fault;
  }
  return undefined;
}
