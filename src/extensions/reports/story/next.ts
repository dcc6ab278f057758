import { accountWords } from '../../../accounts/rules/name.ts';
import { after, instantMs, readTime } from '../../../base/instant.ts';
import { whyNeverLeft } from '../../../orders/rules/create.ts';
import { decisionsFor, type Judgement } from '../../../orders/rules/operator-decisions.ts';
import { LONGEST_MS } from '../../pace/stay-times.ts';
import { HELD_LOOKUP_MS, REJECTED_LOOKUPS_MS } from '../../../orders/rules/schedule.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import { shellWord } from '../../../base/text.ts';
import { counted, inUnits, withCommas } from '../../../base/words.ts';
import type { AccountStop, RestraintView } from '../../../accounts/rules/restraints.ts';
import type { RecordView } from '../../../orders/rules/record.ts';

/** Everything that the database knows of one order. Times are UTC, ISO 8601. */
export interface StoryEvidence {
  readonly order: StoryOrder;
  readonly events: readonly StoryEvent[];
  /** The newest record, and when it came; its view is undefined if it cannot be read. */
  readonly record: { readonly receivedAt: string; readonly view: StoryRecord | undefined } | null;
  readonly keptAnswers: readonly StoryKeptAnswer[];
  readonly findings: readonly StoryFinding[];
  readonly holds: readonly RestraintView[];
  readonly stop: AccountStop | null;
  readonly pace?: StoryPace | undefined;
}

export interface StoryOrder {
  readonly account: string;
  readonly externalOrderId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly nextActionAt: string | null;
  readonly lastLookupAt: string | null;
  readonly preOrderId: string | null;
  readonly asset: string | null;
  readonly assetPosition: string | null;
  readonly fromCurrency: string | null;
  readonly toCurrency: string | null;
  readonly verifications: number;
  readonly outcome: string | null;
  /** When the row was made for an order that the exchange had already. */
  readonly adoptedAt: string | null;
}

export interface StoryEvent {
  readonly field: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly observedAt: string;
  readonly exchangeTime: string | null;
  readonly source: string;
  readonly reason: string | null;
  readonly actor: string | null;
}

export type StoryRecord = Pick<
  RecordView,
  'orderId' | 'orderNumber' | 'inputAsset' | 'outputAsset' | 'fromCurrency' | 'toCurrency' | 'ratio' | 'fee'
>;

/** An answer to a create that could not be read or named another pre-order, and the ids that can be seen in it. */
export interface StoryKeptAnswer {
  readonly receivedAt: string;
  readonly httpStatus: number;
  readonly ids: readonly string[];
}

export interface StoryFinding {
  readonly class: string;
  readonly severity: string;
  readonly expected: string | null;
  readonly actual: string | null;
  readonly firstSeenAt: string;
  readonly lastSeenAt: string;
  readonly resolvedAt: string | null;
  readonly changedBy: string | null;
  readonly changedAt: string | null;
  readonly reason: string | null;
}

/** The facts that decide when a followed order is looked up; times in milliseconds. */
export type StoryPace = {
  readonly status: string;
  readonly since: string;
} & (
  | { readonly kind: 'every-tick' }
  /** The number of stays in the status that have ended, half of them within `halfMs`; infinite if that is not known. */
  | { readonly kind: 'learned'; readonly stays: number; readonly halfMs: number }
);

/** Settings that decide what happens next to an order; times in milliseconds. */
export interface StorySettings {
  readonly verifyAfter: readonly number[];
  readonly recheckFinalAfter: readonly number[];
  readonly onUnknown: 'hold' | 'resend';
  /** False if the account stands in no settings of this machine, so that nothing is sent or looked up for it. */
  readonly isDriven?: boolean;
  /** Something that keeps the order from being sent or looked up, and what helps: a command or a sentence. */
  readonly blocked?: { readonly why: string; readonly remedy: string } | undefined;
}

/** An order at a moment; `events` are those until then. */
export interface Moment {
  readonly order: StoryOrder;
  readonly events: readonly StoryEvent[];
  readonly state: OrderState;
  readonly asOf: Date;
  /** What decides when the order is looked up; of the past nobody knows what was known at the time. */
  readonly pace?: StoryPace | undefined;
  /** Something stops what comes next, and is said already. */
  readonly isStopped: boolean;
}

/** A look-up that was due for longer waits for its turn. */
const OVERDUE_MS = 60_000;

export function whatNext(moment: Moment, settings: StorySettings): readonly string[] {
  const { state } = moment;
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
        ...paceLines(moment),
        ...offer('When it is certain that it was never taken up', moment),
      ];
    case 'open':
      return [`It is followed to its end${at(moment, undefined)}.`, ...paceLines(moment)];
    case 'disputed':
      return [
        'Its order contradicts it, so nobody should act on it.',
        nextOf(moment, undefined) === null
          ? 'It is looked up no more: its order has ended.'
          : `It is looked up, in case its order changes${at(moment, undefined)}.`,
        ...paceLines(moment),
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
  const ends = events.filter(({ field, oldValue }) => field === 'state' && oldValue === 'sending');
  return ends.some(({ newValue, reason }) => newValue !== 'pending' || whyNeverLeft(reason) === undefined);
}

function isSentAgain({ events }: Moment): boolean {
  return events.some(
    ({ field, oldValue, newValue }) => field === 'state' && oldValue === 'held' && newValue === 'pending',
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
  return order.updatedAt <= until && (order.lastLookupAt ?? '') <= until;
}

function dueAt({ order }: Moment): Date | null {
  return readTime(order.nextActionAt);
}

function since({ events, order }: Moment): Date {
  return new Date(events.findLast(({ field }) => field === 'state')?.observedAt ?? order.createdAt);
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

/** With fewer stays than these nothing is said of how long they took. */
const FEW_STAYS = 10;

function paceLines({ pace, asOf }: Moment): readonly string[] {
  if (pace === undefined) return [];
  const forMs = Math.max(0, asOf.getTime() - (instantMs(pace.since) ?? 0));
  if (pace.kind === 'every-tick') return ['It is looked up at each tick of schedule.cron (follow.pace).'];
  const { status, stays, halfMs } = pace;
  if (stays < FEW_STAYS) {
    const known = stays === 0 ? 'no order has been seen to leave it' : `only ${counted(stays, 'order')} left it`;
    return [
      `Not much is known of ${status} yet, as ${known}. Until then look-ups are spaced by how long an order has been there: this one for ${inUnits(forMs)} so far.`,
    ];
  }
  const orders = status === 'accepted' ? 'accepted orders' : `orders in ${status}`;
  const [part, withinMs] = Number.isFinite(halfMs)
    ? (['Half', halfMs] as const)
    : (['Fewer than half', LONGEST_MS] as const);
  const of = `${part} of the ${withCommas(stays)} ${orders} that changed did so within ${inUnits(withinMs)}`;
  return [`${of}; this one has been there, unchanged, for ${inUnits(forMs)}.`];
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
function commandOf(command: string, { account, externalOrderId: id }: StoryOrder, more = ''): string {
  const options = `${more}${accountWords(account)}`.trim();
  const words = id.startsWith('-') ? [options, '--', shellWord(id)] : [shellWord(id), options];
  return ['order-sync', command, ...words].filter((word) => word !== '').join(' ');
}
