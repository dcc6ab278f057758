import { accountWords } from '../../../accounts/rules/name.ts';
import { after, readTime } from '../../../base/instant.ts';
import { whyNeverLeft } from '../../../orders/rules/create.ts';
import { decisionsFor, type Judgement } from '../../../orders/rules/operator-decisions.ts';
import { HELD_LOOKUP_MS, REJECTED_LOOKUPS_MS } from '../../../orders/rules/schedule.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import { shellWord } from '../../../base/text.ts';
import type { StoryEvent, StoryOrder } from '../tables/story.ts';

/** When a followed order is looked up, as the extension tells it that spaces look-ups: for programs, and for people. */
export interface Spacing {
  readonly facts: object;
  readonly text: string;
}

/** Settings that decide what happens next to an order; times in milliseconds. */
export interface StorySettings {
  readonly verifyAfter: readonly number[];
  readonly recheckFinalAfter: readonly number[];
  readonly onUnknown: 'hold' | 'resend';
  /** False if the settings of this machine do not name the account. Nothing is sent or looked up for it then. */
  readonly isDriven?: boolean;
  /** Something that keeps the order from being sent or looked up, and what helps: a command or a sentence. */
  readonly blocked?: { readonly why: string; readonly remedy: string } | undefined;
  /** The value of now; past values are not kept. */
  readonly spacing?: Spacing | undefined;
}

/** An order at a moment; `events` are those until then. */
export interface Moment {
  readonly order: StoryOrder;
  readonly events: readonly StoryEvent[];
  readonly state: OrderState;
  readonly asOf: Date;
  readonly spacing?: Spacing | undefined;
  /** Something stops what comes next, and is said already. */
  readonly isStopped: boolean;
}

/** A look-up that was due for longer waits for its turn. */
const OVERDUE_MS = 60_000;

export function whatNext(moment: Moment, settings: StorySettings): readonly string[] {
  const { order, state, spacing } = moment;
  const next = nextLookup(moment, settings);
  const when = whenText(moment, next ?? null);
  const spaced = spacing === undefined ? [] : [spacing.text];
  const asking = ['To see what the exchange answers now:', commandOf('lookup', order)];
  const offer = (text: string) => [`${text}:`, ...decisionCommands(order, state)];
  const why = state === 'final' ? 'in case it changes all the same' : 'in case an order appears all the same';
  const again = next === null ? 'Nothing: it has ended.' : `It is looked at again, ${why}${when}.`;
  switch (state) {
    case 'pending':
      return isSentAgain(moment)
        ? [...sending(moment), 'It cannot be cancelled: the exchange may have taken it before.']
        : [...sending(moment), ...offer('To keep it from being sent')];
    case 'sending':
      return [
        'The outcome is recorded when the exchange answers; if the process ends before, the outcome is unknown and is looked up.',
      ];
    case 'unknown': {
      const end = settings.onUnknown === 'resend' ? 'sent once more or held for a person' : 'held for a person';
      const line = `It is looked up${when}; if no look-up finds an order it is ${end}.`;
      return [line, ...asking, ...offer('A person who knows better')];
    }
    case 'held':
      return [
        ...asking,
        ...offer('A person must decide'),
        `Until then it is looked up once a day, in case the order appears${when}.`,
      ];
    case 'accepted':
      return [
        `It is looked up until its order appears${when}.`,
        ...spaced,
        ...offer('When it is certain that it was never taken up'),
      ];
    case 'open':
      return [`It is followed to its end${when}.`, ...spaced];
    case 'disputed':
      return [
        'Its order contradicts it, so nobody should act on it.',
        next === null
          ? 'It is looked up no more: its order has ended.'
          : `It is looked up, in case its order changes${when}.`,
        ...spaced,
        ...asking,
        ...offer('A person must decide'),
      ];
    case 'final':
    case 'cancelled':
    case 'abandoned':
      return [again];
    case 'rejected':
      return [again, ...offer('When what the exchange refused is put right')];
    case 'invalid':
      return isNewest(moment) && next !== null
        ? ['The row was changed: it is checked again as soon as a pass runs.']
        : ['Nothing until the row is corrected; then it is checked again.'];
  }
}

function sending(moment: Moment): readonly string[] {
  if (moment.isStopped) return [];
  const ends = moment.events.filter(({ field, old_value }) => field === 'state' && old_value === 'sending');
  const hasLeft = ends.some(({ new_value, reason }) => new_value !== 'pending' || whyNeverLeft(reason) === undefined);
  const how = hasLeft ? 'It is sent again' : 'It is sent';
  if (!isNewest(moment)) return [`${how} when its time has come.`];
  const next = readTime(moment.order.next_action_at);
  return [next === null || next <= moment.asOf ? `${how} as soon as a pass runs.` : `${how} at ${next.toISOString()}.`];
}

function isSentAgain({ events }: Moment): boolean {
  return events.some(
    ({ field, old_value, new_value }) => field === 'state' && old_value === 'held' && new_value === 'pending',
  );
}

/** Now the row has the time; of the past only the plan is known: undefined if it has none. */
function nextLookup(moment: Moment, { verifyAfter, recheckFinalAfter }: StorySettings): Date | null | undefined {
  const { order, events, state, asOf } = moment;
  if (isNewest(moment)) return readTime(order.next_action_at);
  const since = new Date(events.findLast(({ field }) => field === 'state')?.observed_at ?? order.created_at);
  const days = Math.floor((asOf.getTime() - since.getTime()) / HELD_LOOKUP_MS);
  const plans: Partial<Record<OrderState, readonly number[]>> = {
    unknown: verifyAfter,
    held: [(days + 1) * HELD_LOOKUP_MS],
    rejected: REJECTED_LOOKUPS_MS,
    final: recheckFinalAfter,
    cancelled: recheckFinalAfter,
    abandoned: recheckFinalAfter,
  };
  const times = plans[state]?.map((ms) => after(since, ms));
  return times && (times.find((time) => time > asOf) ?? null);
}

function whenText(moment: Moment, next: Date | null): string {
  if (next === null || moment.isStopped) return '';
  if (isNewest(moment) && moment.asOf.getTime() - next.getTime() > OVERDUE_MS) {
    return `, next in its turn, when a pass runs: its look-up has been due since ${next.toISOString()}, and those that were due before it go first`;
  }
  if (next <= moment.asOf) return ', next as soon as a pass runs';
  return isNewest(moment) ? `, next at ${next.toISOString()}` : `, next by ${next.toISOString()} if nothing delays it`;
}

/** The row is as it was then: nothing has changed it since, nor a look-up its due time. */
export function isNewest({ order, asOf }: Pick<Moment, 'order' | 'asOf'>): boolean {
  const until = asOf.toISOString();
  return order.updated_at <= until && (order.last_lookup_at ?? '') <= until;
}

const DECISIONS: Readonly<Record<Judgement['kind'], readonly [command: string, options: string]>> = {
  exists: ['orders resolve', '--as exists --pre-order-id PRE_ORDER_ID --reason TEXT'],
  'not-created': ['orders resolve', '--as not-created --reason TEXT'],
  ours: ['orders resolve', '--as ours --reason TEXT'],
  abandoned: ['orders resolve', '--as abandoned --reason TEXT'],
  retry: ['orders retry', '--reason TEXT'],
  cancel: ['orders cancel', '--reason TEXT'],
};

function decisionCommands(order: StoryOrder, state: OrderState): readonly string[] {
  // To send again what the exchange may have taken is no step that anybody is led to.
  const mayBeTaken = state === 'unknown' || state === 'held';
  return decisionsFor(state)
    .filter((kind) => kind !== 'retry' || !mayBeTaken)
    .map((kind) => commandOf(DECISIONS[kind][0], order, DECISIONS[kind][1]));
}

export function isCommand(line: string): boolean {
  return line.startsWith('order-sync ');
}

/** An id that begins with a hyphen would be taken for an option. */
function commandOf(command: string, { account, external_order_id: id }: StoryOrder, more = ''): string {
  const options = `${more}${accountWords(account)}`.trim();
  const words = id.startsWith('-') ? [options, '--', shellWord(id)] : [shellWord(id), options];
  return ['order-sync', command, ...words].filter((word) => word !== '').join(' ');
}
