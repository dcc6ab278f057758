import { NEVER_LEFT } from '../../../orders/rules/create.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import type { Lane } from '../../../accounts/rules/restraints.ts';
import { after, readTime } from '../../../base/instant.ts';
import { decisionsFor, obstacleTo, type DecisionEvidence, type Judgement } from '../../operate/rules/judgement.ts';
import { questionOfOwn } from '../../operate/finding-classes.ts';
import { HELD_LOOKUP_MS, REJECTED_LOOKUPS_MS } from '../../../orders/rules/schedule.ts';
import { FOLLOWED_STATES, RECHECKED_STATES, type OrderState } from '../../../orders/rules/states.ts';
import { shellWord } from '../../../base/text.ts';
import { capitalized } from '../../documents/words.ts';
import type { StoryEvent, StoryOrder } from '../tables/story.ts';

export type Spacing = { readonly facts: object; readonly text: string };

export interface StorySettings {
  readonly verifyAfter: readonly number[];
  readonly recheckFinalAfter: readonly number[];
  readonly onUnknown: 'hold' | 'resend';
  /** False if the settings of this machine do not name the account. Then this machine sends no request for it. */
  readonly isDriven?: boolean;
  /** `why` names the obstacle to sending or looking up the order. `remedy` is a command or a sentence. */
  readonly blocked?: { readonly why: string; readonly remedy: string } | undefined;
  /** How `follow.pace` spaces the look-ups of the order now. Past spacings are not stored. */
  readonly spacing?: Spacing | undefined;
  readonly keyPlace?: string;
  readonly against?: DecisionEvidence | undefined;
}

export interface Moment extends StorySettings {
  readonly order: StoryOrder;
  readonly events: readonly StoryEvent[];
  readonly state: OrderState;
  readonly asOf: Date;
}

interface PlannedMoment extends Moment {
  readonly isStopped: boolean;
  /** True if ORDER_VANISHED is not resolved: a look-up found no order after an earlier look-up had found the order. */
  readonly isVanished: boolean;
}

const OVERDUE_MS = 60_000;

export function whatNext(moment: PlannedMoment): readonly string[] {
  const { order, state, spacing, isStopped, isVanished } = moment;
  const next = nextLookup(moment);
  const when = whenText(moment, next ?? null);
  const spaced = spacing === undefined ? [] : [spacing.text];
  const asking = ['To see what the exchange answers now:', commandOf('exchange lookup', order)];
  const offer = (text: string) => [`${text}:`, ...decisionCommands(moment)];
  const unlessStopped = (line: string) => (isStopped ? [] : [line]);
  const again = next === null ? [ENDED] : unlessStopped(`The order is looked up again, ${whyAgain(moment)}${when}.`);
  switch (state) {
    case 'pending':
      return isSentAgain(moment)
        ? [...sending(moment), CANNOT_CANCEL, `order-sync pause${accountWords(order.account)} --reason TEXT`]
        : [...sending(moment), ...offer('To cancel the order before it is sent')];
    case 'sending':
      return [IN_FLIGHT];
    case 'unknown': {
      const end = moment.onUnknown === 'resend' ? 'sent once more, or held' : 'held';
      const lookedUp = isStopped ? '' : `The order is looked up${when}. `;
      const line = `${lookedUp}If no look-up finds the order, it is ${end} for a person to decide.`;
      return [line, ...asking, ...offer('To decide sooner, if you know what became of the order')];
    }
    case 'held': {
      const until = `Until a person decides, the order is looked up once a day, in case it appears${when}.`;
      return [...offer('A person must decide'), ...asking, ...unlessStopped(until)];
    }
    case 'accepted': {
      const line = `The order is looked up until it appears at the exchange${when}.`;
      const abandoning = offer('To abandon the order, if it is certain that it will not appear');
      return [...unlessStopped(line), ...spaced, ...abandoning];
    }
    case 'open': {
      const followed = isVanished ? 'still looked up' : 'followed until it ends';
      const missing = isVanished ? [VANISHED, ...asking] : [];
      return [...missing, ...unlessStopped(`The order is ${followed}${when}.`), ...spaced];
    }
    case 'disputed': {
      const ended = [ENDED_DISPUTED, `order-sync sync${accountWords(order.account)}`];
      const followed = unlessStopped(`The order is looked up, in case it changes${when}.`);
      return [DISPUTED, ...offer('A person must decide'), ...(next === null ? ended : followed), ...spaced, ...asking];
    }
    case 'final':
    case 'cancelled':
      return again;
    case 'abandoned':
      return wasDisputed(moment) ? [...again, ANEW] : again;
    case 'rejected':
      return [...again, ...offer('To send the order again, when the cause of the refusal is corrected')];
    case 'invalid':
      return isNewest(moment) && next !== null
        ? ['The row was changed. It is checked again when the next pass runs.']
        : [CORRECT, ...offer('If the row is right and a setting was wrong, to have the row checked again')];
  }
}

const CANNOT_CANCEL =
  'The order cannot be cancelled: the exchange may already have it. To stop all creates of the account:';
const CORRECT =
  'Nothing, until a person corrects the row, with an UPDATE of its columns, or deletes it. A corrected row is checked again.';
const VANISHED =
  'The newest look-up that was answered found no order. A person must ask the exchange what became of the order.';
const IN_FLIGHT =
  'The outcome is recorded when the exchange answers. If the process ends before that, the order is looked up.';
const ENDED = 'Nothing: the order has ended.';
const DISPUTED = 'The order at the exchange contradicts the row. Do not act on it until a person has decided.';
const ENDED_DISPUTED =
  'The order at the exchange has ended and is not looked up any more. To look it up, if the exchange corrects it:';
const ANEW = 'If your own order is still wanted, insert it again under a new id.';
export const CAN_END: readonly OrderState[] = ['disputed', ...RECHECKED_STATES];

export function nextLane(moment: Moment): Lane | undefined {
  const { state } = moment;
  if (state === 'pending') return 'create';
  const isFollowed = (FOLLOWED_STATES as readonly string[]).includes(state);
  return (CAN_END.includes(state) ? nextLookup(moment) !== null : isFollowed) ? 'lookup' : undefined;
}

function wasDisputed({ events }: Pick<Moment, 'events'>): boolean {
  return events.findLast(({ field }) => field === 'state')?.old_value === 'disputed';
}

function whyAgain(moment: Moment): string {
  if (moment.state === 'final') return 'in case it still changes';
  const whose = wasDisputed(moment) ? 'your own order appears at the exchange' : 'the exchange has it after all';
  return `in case ${whose}`;
}

function sending(moment: PlannedMoment): readonly string[] {
  if (moment.isStopped) return [];
  const ends = moment.events.filter(({ field, old_value }) => field === 'state' && old_value === 'sending');
  const hasLeft = ends.some(({ new_value, reason }) => new_value !== 'pending' || whyNeverLeft(reason) === undefined);
  const how = hasLeft ? 'The order is sent again' : 'The order is sent';
  if (!isNewest(moment)) return [`${how} when it is due.`];
  const next = readTime(moment.order.next_action_at);
  const isDue = next === null || next <= moment.asOf;
  return [isDue ? `${how} when the next pass runs.` : `${how} at ${next.toISOString()}.`];
}

function isSentAgain({ events }: Moment): boolean {
  const ends = events.filter(({ field, old_value }) => field === 'state' && old_value === 'held');
  return ends.some(({ new_value }) => new_value === 'pending');
}

/** Returns when the next look-up is due; null if none follows, undefined if that is not known for a past moment. */
function nextLookup(moment: Moment): Date | null | undefined {
  const { order, events, state, asOf, verifyAfter, recheckFinalAfter } = moment;
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
  if (next === null) return '';
  if (isNewest(moment) && moment.asOf.getTime() - next.getTime() > OVERDUE_MS) {
    return `; this look-up has been due since ${next.toISOString()} and waits for earlier ones`;
  }
  if (next <= moment.asOf) return ', next when a pass runs';
  return isNewest(moment) ? `, next at ${next.toISOString()}` : `, next by ${next.toISOString()} if nothing delays it`;
}

/** True if the row was neither changed nor looked up after `asOf`, so that its values are the values at `asOf`. */
export function isNewest({ order, asOf }: Pick<Moment, 'order' | 'asOf'>): boolean {
  const until = asOf.toISOString();
  return order.updated_at <= until && (order.last_lookup_at ?? '') <= until;
}

const DECISIONS: Readonly<Record<Judgement['kind'], string>> = {
  exists: 'If the exchange has a pre-order of this order, to follow the order:',
  'not-created': 'If the exchange answers that it has no pre-order of this order, to send the order again:',
  ours: 'If the order at the exchange is yours, to trust that order:',
  abandoned: 'To end the order, without sending it again:',
  retry: 'To send the order again:',
  cancel: 'To cancel the order before it is sent:',
};
const DUPLICATING =
  'To send the order again all the same, if you accept that the exchange may have taken the first request and may now make a second pre-order:';
export const EFFECTS: readonly string[] = [...Object.values(DECISIONS), DUPLICATING];

function notOurs({ pre_order_id: id }: StoryOrder): string {
  return `If the order at the exchange is not yours, first ask the exchange ${questionOfOwn(id)}. Then end your order, and insert it again under a new id.`;
}

function decisionCommands(moment: Moment): readonly string[] {
  const { order, state, asOf, against = {} } = moment;
  // For an unknown or held order the story offers no `retry`, because a retry could create the order twice.
  const mayBeTaken = state === 'unknown' || state === 'held';
  const decisions = decisionsFor(state).filter((kind) => kind !== 'retry' || !mayBeTaken);
  const [sentAt, absentAt] = [readTime(order.sent_at), readTime(order.absent_at)];
  const sent = { externalOrderId: order.external_order_id, state, sentAt, absentAt };
  return decisions.flatMap((kind) => {
    const obstacle = isNewest(moment) ? obstacleTo(kind, sent, asOf, against) : undefined;
    const first = state === 'disputed' && kind === 'abandoned' ? [notOurs(order)] : [];
    if (obstacle === undefined)
      return [...(decisions.length > 1 ? [...first, DECISIONS[kind]] : []), deciding(kind, order)];
    const why = `${capitalized(obstacle.why)}.`;
    return obstacle.isTemporary ? [why] : [why, DUPLICATING, deciding(kind, order, '--i-know-it-may-duplicate ')];
  });
}

function deciding(kind: Judgement['kind'], order: StoryOrder, more = ''): string {
  if (kind === 'retry' || kind === 'cancel') return commandOf(`orders ${kind}`, order, `${more}--reason TEXT`);
  const id = kind === 'exists' ? ' --pre-order-id PRE_ORDER_ID' : '';
  return commandOf('orders resolve', order, `--as ${kind}${id} ${more}--reason TEXT`);
}

export function isCommand(line: string): boolean {
  return line.startsWith('order-sync ');
}

/** An id that begins with a hyphen follows `--`, because otherwise the program would read the id as an option. */
function commandOf(command: string, { account, external_order_id: id }: StoryOrder, more = ''): string {
  const options = `${more}${accountWords(account)}`.trim();
  const words = id.startsWith('-') ? [options, '--', shellWord(id)] : [shellWord(id), options];
  return ['order-sync', command, ...words].filter((word) => word !== '').join(' ');
}

export function whyNeverLeft(reason: string | null): string | undefined {
  return reason?.startsWith(NEVER_LEFT) === true ? reason.slice(NEVER_LEFT.length) : undefined;
}
