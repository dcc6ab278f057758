import type { Pace } from '../../src/orders/rules/lookup.ts';
import { staysOf, type Stay, type StatusEvent } from '../../src/extensions/pace/status.ts';
import { PaceLearner, type LearnedPace, type PaceLimits } from '../../src/extensions/pace/pace.ts';
import { statusOf, type Follower, type SeenOrder } from './simulate.ts';
import { DAY, HOUR, MINUTE, SECOND, type World } from './world.ts';

/** As the program learns: the newest changes that look-ups found. */
const NEWEST_CHANGES = 20_000;

/** The ages since the last change from which on an order is looked up every `everyMs`. */
export const STEPS = [
  { fromMs: 0, everyMs: 5 * SECOND },
  ...[10, 20, 40, 80, 160, 320].map((seconds) => ({ fromMs: seconds * SECOND, everyMs: seconds * SECOND })),
  { fromMs: 10 * MINUTE, everyMs: 10 * MINUTE },
  { fromMs: HOUR, everyMs: HOUR },
  { fromMs: 3 * DAY, everyMs: DAY },
  { fromMs: 90 * DAY, everyMs: 7 * DAY },
];

/** Spaces look-ups by the time since the last change alone. */
export function stepPace({ leastMs, mostMs }: Pick<PaceLimits, 'leastMs' | 'mostMs'>): Pace {
  return {
    gapMs: (_order, sinceChangeMs) => {
      const step = STEPS.findLast(({ fromMs }) => fromMs <= sinceChangeMs) ?? STEPS[0];
      return Math.min(mostMs, Math.max(leastMs, step?.everyMs ?? mostMs));
    },
  };
}

/** Goes by a pace that does not change. */
export function following(pace: Pace): Follower {
  return { gapMs: (order, now) => pace.gapMs(statusOf(order), now - order.changedAt) };
}

/** Exponential back-off: each look-up that brings nothing doubles the time since the last change, to an hour at most. */
export function backOff({ leastMs }: PaceLimits): Follower {
  return { gapMs: ({ changedAt }, now) => Math.min(HOUR, leastMs + (now - changedAt)) };
}

/** The pace of the program, learned from the history that its own look-ups make. */
export class Learned implements Follower {
  readonly #world: World;
  readonly #limits: PaceLimits;
  readonly #events = new Map<SeenOrder, StatusEvent[]>();
  #stays: { readonly id: number; readonly stay: Stay }[] = [];
  /** Numbers of changes by the time when they were the last ones. */
  readonly #lastIds: { readonly id: number; readonly at: number }[] = [];
  #lastId = 0;
  #pace: LearnedPace;

  constructor(world: World, limits: PaceLimits) {
    this.#world = world;
    this.#limits = limits;
    this.#pace = new PaceLearner().pace(limits);
  }

  gapMs(order: SeenOrder, now: number): number {
    return this.#pace.gapMs(statusOf(order), now - order.changedAt);
  }

  created(order: SeenOrder): void {
    const at = { observedAt: order.plan.createdAt, source: 'create' };
    const sent = this.#event({ ...at, oldValue: 'pending', newValue: 'sending' });
    this.#events.set(order, [sent, this.#event({ ...at, oldValue: 'sending', newValue: 'accepted' })]);
  }

  changed(order: SeenOrder, before: number, now: number): void {
    const events = this.#events.get(order) ?? [];
    const fromId = this.#lastId + 1;
    events.push(...this.#changesOf(order, before, now));
    this.#stays.push(...staysOf(events, fromId).map((stay) => ({ id: fromId, stay })));
    if (order.plan.statuses[order.seen] === undefined) this.#events.delete(order);
  }

  learn(orders: Iterable<SeenOrder>, now: number): void {
    const firstId = this.#lastId - NEWEST_CHANGES;
    this.#stays = this.#stays.filter(({ id }) => id > firstId);
    this.#lastIds.push({ id: this.#lastId, at: now });
    while ((this.#lastIds[1]?.id ?? Number.POSITIVE_INFINITY) <= firstId) this.#lastIds.shift();
    // Changes that are older than the world are no longer among the newest.
    const from = new Date(Math.max(0, this.#lastIds[0]?.at ?? 0));
    const learner = new PaceLearner(
      this.#stays.map(({ stay }) => stay),
      from,
    );
    for (const order of orders) {
      const changedAt = new Date(order.changedAt);
      const lastLookupAt = order.lookedUpAt === undefined ? null : new Date(order.lookedUpAt);
      const nextActionAt = new Date(order.dueAt).toISOString();
      learner.addOrder({ ...statusOf(order), changedAt, lastLookupAt, nextActionAt }, new Date(now));
    }
    this.#pace = learner.pace({ ...this.#limits, tickMs: this.#world.tickMs(now) });
  }

  #changesOf({ plan, seen, lookedUpAt }: SeenOrder, before: number, now: number): StatusEvent[] {
    const [was, is] = [plan.statuses[before], plan.statuses[seen]];
    const change = {
      observedAt: now,
      lookedUpBefore: lookedUpAt ?? null,
      exchangeTime: plan.leavesAt[seen - 1] ?? null,
      source: 'lookup',
    };
    const status = { oldValue: was?.orderStatus ?? null, newValue: is === undefined ? 'COMPLETED' : is.orderStatus };
    const events = [this.#event({ ...change, field: 'order.status', ...status })];
    const [oldValue = null, newValue] = [was?.state, is?.state ?? 'final'];
    if (oldValue !== newValue) events.push(this.#event({ ...change, oldValue, newValue }));
    return events;
  }

  #event(
    change: Pick<StatusEvent, 'oldValue' | 'newValue' | 'observedAt' | 'source'> & Partial<StatusEvent>,
  ): StatusEvent {
    if (change.source === 'lookup') this.#lastId += 1;
    return { id: this.#lastId, field: 'state', lookedUpBefore: null, exchangeTime: null, ...change };
  }
}
