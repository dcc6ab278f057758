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
  /** False if the account stands in no settings of this machine, so that nothing is sent or looked up for it. */
  readonly isDriven?: boolean;
  /** Something that keeps the order from being sent or looked up, and what helps: a command or a sentence. */
  readonly blocked?: { readonly why: string; readonly remedy: string } | undefined;
  /** As it is now: of the past nobody knows it. */
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
  const { state, spacing } = moment;
  const spaced = spacing === undefined ? [] : [spacing.text];
  switch (state) {
    case 'pending':
      return [
        ...sending(moment),
        ...(isSentAgain(moment)
          ? ['It cannot be cancelled: the exchange may have taken it before.']
          : offer('To keep it from being sent', moment)),
      ];
    case 'sending':
      return [
        'The outcome is recorded when the exchange answers; if the process ends before, the outcome is unknown and is looked up.',
      ];
    case 'unknown':
      return [...verifying(moment, settings), ...asking(moment), ...offer('A person who knows better', moment)];
    case 'held':
      return [
        ...asking(moment),
        ...offer('A person must decide', moment),
        `Until then it is looked up once a day, in case the order appears${at(moment, daily(moment))}.`,
      ];
    case 'accepted':
      return [
        `It is looked up until its order appears${at(moment, undefined)}.`,
        ...spaced,
        ...offer('When it is certain that it was never taken up', moment),
      ];
    case 'open':
      return [`It is followed to its end${at(moment, undefined)}.`, ...spaced];
    case 'disputed':
      return [
        'Its order contradicts it, so nobody should act on it.',
        nextOf(moment, undefined) === null
          ? 'It is looked up no more: its order has ended.'
          : `It is looked up, in case its order changes${at(moment, undefined)}.`,
        ...spaced,
        ...asking(moment),
        ...offer('A person must decide', moment),
      ];
    case 'final':
    case 'cancelled':
    case 'abandoned':
      return [rechecking(moment, settings.recheckFinalAfter)];
    case 'rejected':
      return [rechecking(moment, REJECTED_LOOKUPS_MS), ...offer('When what the exchange refused is put right', moment)];
    case 'invalid':
      return [
        isNewest(moment) && dueAt(moment) !== null
          ? 'The row was changed: it is checked again as soon as a pass runs.'
          : 'Nothing until the row is corrected; then it is checked again.',
      ];
  }
}

function sending(moment: Moment): readonly string[] {
  if (moment.isStopped) return [];
  const how = hasLeft(moment) ? 'It is sent again' : 'It is sent';
  if (!isNewest(moment)) return [`${how} when its time has come.`];
  const next = dueAt(moment);
  return [next === null || next <= moment.asOf ? `${how} as soon as a pass runs.` : `${how} at ${next.toISOString()}.`];
}

function hasLeft({ events }: Moment): boolean {
  const ends = events.filter(({ field, old_value }) => field === 'state' && old_value === 'sending');
  return ends.some(({ new_value, reason }) => new_value !== 'pending' || whyNeverLeft(reason) === undefined);
}

function isSentAgain({ events }: Moment): boolean {
  return events.some(
    ({ field, old_value, new_value }) => field === 'state' && old_value === 'held' && new_value === 'pending',
  );
}

function verifying(moment: Moment, { verifyAfter, onUnknown }: StorySettings): string[] {
  const planned = upcoming(since(moment), verifyAfter, moment.asOf);
  const end = onUnknown === 'resend' ? 'sent once more or held for a person' : 'held for a person';
  return [`It is looked up${at(moment, planned)}; if no look-up finds an order it is ${end}.`];
}

function rechecking(moment: Moment, plan: readonly number[]): string {
  const why = moment.state === 'final' ? 'in case it changes all the same' : 'in case an order appears all the same';
  const planned = upcoming(since(moment), plan, moment.asOf);
  const isOver = nextOf(moment, planned) === null;
  return isOver ? 'Nothing: it has ended.' : `It is looked at again, ${why}${at(moment, planned)}.`;
}

function offer(when: string, { order, state }: Moment): readonly string[] {
  return [`${when}:`, ...decisionCommands(order, state)];
}

function asking({ order }: Moment): readonly string[] {
  return ['To see what the exchange answers now:', commandOf('lookup', order)];
}

/** When the order is looked up next: now the row has the time; of the past only the plan is known, undefined if it has none. */
function nextOf(moment: Moment, planned: Date | null | undefined): Date | null | undefined {
  return isNewest(moment) ? dueAt(moment) : planned;
}

function at(moment: Moment, planned: Date | null | undefined): string {
  const next = nextOf(moment, planned) ?? null;
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

function dueAt({ order }: Moment): Date | null {
  return readTime(order.next_action_at);
}

function since({ events, order }: Moment): Date {
  return new Date(events.findLast(({ field }) => field === 'state')?.observed_at ?? order.created_at);
}

function upcoming(from: Date, plan: readonly number[], asOf: Date): Date | null {
  const ms = plan.find((one) => after(from, one) > asOf);
  return ms === undefined ? null : after(from, ms);
}

function daily(moment: Moment): Date {
  const from = since(moment);
  const days = Math.floor((moment.asOf.getTime() - from.getTime()) / HELD_LOOKUP_MS) + 1;
  return after(from, days * HELD_LOOKUP_MS);
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
