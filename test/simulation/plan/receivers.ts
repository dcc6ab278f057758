import type { EventFilter } from '../../../src/extensions/webhooks/delivery.ts';
import { DAY, HOUR, MINUTE, type Chance, type Window } from './chance.ts';

/** The fate of an event on its way to a receiver; `taken` says whether the receiver has it then. */
export const DELIVERY_FAULTS = {
  refused: { arrives: false, taken: false },
  'lost-before': { arrives: false, taken: false },
  'lost-after': { arrives: true, taken: true },
  'hangs-before': { arrives: false, taken: false },
  'hangs-after': { arrives: true, taken: true },
  /** The receiver had closed a connection that was kept. */
  closed: { arrives: false, taken: false },
  'too-many': { arrives: true, taken: false },
  'asks-to-wait': { arrives: true, taken: false },
  broken: { arrives: true, taken: false },
  'broken-after': { arrives: true, taken: true },
  redirects: { arrives: true, taken: false },
  'timed-out': { arrives: true, taken: false },
  declines: { arrives: true, taken: false },
} as const;
export type DeliveryFault = keyof typeof DELIVERY_FAULTS;

const KINDS = Object.keys(DELIVERY_FAULTS) as DeliveryFault[];
const FILTERS: readonly EventFilter[] = [
  [],
  [],
  ['order.state_changed'],
  ['order.*', 'finding.opened'],
  ['order.needs_attention', 'finding.*', 'account.*'],
];
/** Of answers to an event that a receiver never takes: a status, or none at all. */
const POISONED = [500, 503, 400, 404, 410, 422, 'nothing'] as const;

/** A receiver of events, and how it behaves; times in milliseconds since the world began. */
export interface PlannedReceiver {
  readonly name: string;
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly events: EventFilter;
  /** When processes that start know it. */
  readonly addedAt: number;
  /** When its second secret is set beside the first, and when the first is taken out. */
  readonly rotated: { readonly from: number; readonly to: number } | null;
  /** The share of requests that one of these happens to, until `wellAt`. */
  readonly faults: number;
  readonly kinds: readonly DeliveryFault[];
  readonly wellAt: number;
  /** When it answers nothing, or refuses whatever comes with 401. */
  readonly dead: Window | null;
  readonly refusesAll: Window | null;
  /** One event of this many it never takes. */
  readonly poison: { readonly oneOf: number; readonly answer: (typeof POISONED)[number] } | null;
  readonly latenciesMs: readonly number[];
}

/** Plans the receivers of a world; none in most. */
export function planReceivers(chance: Chance, calmAt: number, share = 0.15): readonly PlannedReceiver[] {
  if (chance.next() >= share) return [];
  return Array.from({ length: 1 + chance.below(3) }, (_, index) => planReceiver(chance, index, calmAt));
}

function planReceiver(chance: Chance, index: number, calmAt: number): PlannedReceiver {
  const isPrivate = chance.next() < 0.05;
  const isNeverBack = chance.next() < 0.05;
  const rotation = chance.window(calmAt);
  return {
    name: `shop-${index}`,
    url: isPrivate ? 'https://[::ffff:10.0.0.7]/events' : `https://shop-${index}.example/events`,
    allowPrivate: !isPrivate && chance.next() < 0.5,
    events: chance.of(FILTERS),
    addedAt: chance.of([0, 0, 0, chance.below(calmAt)]),
    rotated: chance.next() < 0.3 ? rotation : null,
    faults: chance.of([0, 0, 0.05, 0.3, 0.7]),
    kinds: KINDS.filter(() => chance.next() < 0.4),
    wellAt: chance.of([calmAt, calmAt, calmAt + 5 * HOUR]),
    dead: isNeverBack ? { from: chance.below(calmAt), to: Number.POSITIVE_INFINITY } : planStretch(chance, calmAt, 0.3),
    refusesAll: planStretch(chance, calmAt, 0.15),
    poison: chance.next() < 0.25 ? { oneOf: chance.of([3, 10, 40]), answer: chance.of(POISONED) } : null,
    latenciesMs: chance.of([[0], [0, 1, 50], [1, 200, 5_000], [14_000]]),
  };
}

function planStretch(chance: Chance, calmAt: number, likelihood: number): Window | null {
  if (chance.next() >= likelihood) return null;
  const from = chance.below(calmAt);
  return { from, to: from + chance.of([MINUTE, HOUR, 5 * HOUR, DAY]) };
}

/** Tells whether a receiver never takes an event: the same ones in every run of a world. */
export function isPoisoned({ id }: { readonly id: string }, oneOf: number): boolean {
  return Number.parseInt(id.slice('evt_'.length, 'evt_'.length + 6), 16) % oneOf === 0;
}
