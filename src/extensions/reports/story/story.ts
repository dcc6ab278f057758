import { shellWord } from '../../../base/text.ts';
import { describeRestraint, stops, describeStop, stopRemedy } from '../../../accounts/rules/restraints.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { findingClass } from '../../../findings/rules/classes.ts';
import { DISPUTING_CLASSES } from '../../../findings/rules/rules.ts';
import { whyNeverLeft } from '../../../orders/rules/create.ts';
import { compareTexts } from '../../../base/words.ts';
import { FOLLOWED_STATES, type OrderState } from '../../../orders/rules/states.ts';
import type { RecordView } from '../../../orders/rules/record.ts';
import type { StoryEvent, StoryEvidence, StoryFinding, StoryOrder } from '../tables/story.ts';
import { headlineSentence } from '../../documents/headline.ts';
import { isNewest, whatNext, type Moment, type StorySettings } from './next.ts';

interface StoryEntry {
  readonly at: string;
  readonly text: string;
}

export interface Story {
  readonly externalOrderId: string;
  readonly asOf: string;
  /** Null if the order was not inserted yet. */
  readonly state: OrderState | null;
  /** Null also if it is not known of that moment. */
  readonly outcome: string | null;
  /** The fate of the order, in a sentence without its full stop. */
  readonly headline: string;
  readonly told: readonly StoryEntry[];
  /** What decides when it is looked up; null for the past, and if no look-up is planned. */
  readonly pace: object | null;
  readonly next: readonly string[];
}

/** The same evidence makes the same story, and the story of a later moment begins with that of an earlier one. */
export function buildStory(evidence: StoryEvidence, asOf: Date, settings: StorySettings): Story {
  const { order, findings } = evidence;
  const { external_order_id: externalOrderId } = order;
  const until = asOf.toISOString();
  if (order.created_at > until) {
    const none = { state: null, outcome: null, headline: 'The order did not exist yet', told: [], pace: null };
    return { externalOrderId, asOf: until, ...none, next: ['The row had not been inserted into the database.'] };
  }
  const events = evidence.events.filter(({ observed_at }) => observed_at <= until);
  const newest = events.findLast(({ field }) => field === 'state');
  const state = (newest?.new_value ?? 'pending') as OrderState;
  const outcome = state === 'final' && order.updated_at <= until ? order.outcome : null;
  const entries = [
    { at: order.created_at, text: 'The row was inserted into the database.' },
    ...eventEntries(evidence),
    ...evidence.keptAnswers.map(keptEntry),
    ...lookupEntries(evidence, settings),
    ...findings.flatMap(findingEntries),
  ].filter(({ at }) => at <= until);
  const open = findings.filter((finding) => isOpen(finding, until));
  const stopped = stopLines(evidence, { state, asOf }, settings);
  const isLookedUp = stopped.length === 0 && isNewest({ order, asOf }) && order.next_action_at !== null;
  const spacing = isLookedUp ? settings.spacing : undefined;
  return {
    externalOrderId,
    asOf: until,
    state,
    outcome,
    headline: headlineSentence({ state, outcome }, newest?.observed_at ?? order.created_at),
    // The sort keeps entries of one moment in the order of the list above.
    told: entries.toSorted((a, b) => compareTexts(a.at, b.at)),
    pace: spacing?.facts ?? null,
    next: [
      ...stopped,
      ...whatNext({ order, events, state, asOf, spacing, isStopped: stopped.length > 0 }, settings),
      ...findingLines(open, { order, events }),
    ],
  };
}

/** Why what comes next has to wait, or never comes: a hold of the account that stops it, or an account that nobody drives. */
function stopLines(
  { holds, stop, order }: StoryEvidence,
  { state, asOf }: Pick<Moment, 'state' | 'asOf'>,
  { isDriven = true, blocked }: StorySettings,
): readonly string[] {
  const isFollowed = (FOLLOWED_STATES as readonly OrderState[]).includes(state);
  const lane = state === 'pending' ? 'create' : isFollowed ? 'lookup' : undefined;
  if (lane === undefined) return [];
  const until = asOf.toISOString();
  const waiting = holds.filter((hold) => stops(hold, lane) && hold.since <= until);
  const lines = waiting.map((hold) => `The order waits: ${describeRestraint(hold, order.account)}.`);
  // Of the past nobody knows who drove it.
  if (!isNewest({ order, asOf })) return lines;
  const what = lane === 'create' ? 'sent' : 'looked up';
  const stopped =
    stop === null ? blocked : { why: describeStop(stop), remedy: stopRemedy(stop.kind, accountWords(order.account)) };
  if (stopped !== undefined) lines.push(`The order is not ${what}: ${stopped.why}.`, stopped.remedy);
  if (isDriven) return lines;
  return [...lines, `The order is not ${what}: the settings of this machine do not have the account ${order.account}.`];
}

/** The events of the order. Those of stored findings are left out: the findings have entries of their own. */
function eventEntries({ order, events, findings }: StoryEvidence): readonly StoryEntry[] {
  const isStored = ({ field, new_value, observed_at }: StoryEvent) =>
    field === 'finding' && findings.some((one) => one.class === new_value && one.first_seen_at === observed_at);
  let creates = 0;
  return events.flatMap((event) => {
    if (event.field === 'state' && event.new_value === 'sending') creates += 1;
    return isStored(event) ? [] : [{ at: event.observed_at, text: eventSentence(event, { order, creates }) }];
  });
}

function lookupEntries({ order, events, record }: StoryEvidence, { verifyAfter }: StorySettings): StoryEntry[] {
  const entries: StoryEntry[] = [];
  if (record !== null) entries.push({ at: record.received_at, text: recordSentence(record.view) });
  const { last_lookup_at } = order;
  if (last_lookup_at === null || last_lookup_at === record?.received_at) return entries;
  // The events of a look-up say what it changed.
  if (events.some(({ observed_at, source }) => observed_at === last_lookup_at && source === 'lookup')) return entries;
  const state = events.findLast(
    ({ field, observed_at }) => field === 'state' && observed_at <= last_lookup_at,
  )?.new_value;
  const spent = state === 'unknown' ? `; ${order.verifications} of ${verifyAfter.length} look-ups are done` : '';
  const text = record === null ? `A look-up found no order${spent}.` : 'A look-up found no newer record of the order.';
  return [...entries, { at: last_lookup_at, text }];
}

function recordSentence(view: RecordView | undefined): string {
  if (view === undefined) return 'order-sync received the newest record of the order, and cannot read it.';
  const facts = [
    `id ${view.orderId}`,
    view.orderNumber === null ? null : `number ${view.orderNumber}`,
    view.inputAsset === null ? null : `${amount(view.inputAsset, view.fromCurrency)} in`,
    view.outputAsset === null ? null : `${amount(view.outputAsset, view.toCurrency)} out`,
    view.ratio === null ? null : `ratio ${view.ratio}`,
    view.fee === null ? null : `fee ${view.fee}`,
  ].filter((fact) => fact !== null);
  return `order-sync received the newest record of the order: ${facts.join(', ')}.`;
}

function amount(value: string, currency: string | null): string {
  return currency === null ? value : `${value} ${currency}`;
}

function keptEntry({ received_at, http_status, ids }: StoryEvidence['keptAnswers'][number]): StoryEntry {
  const seen = ids.length === 0 ? 'it contains no id' : `it contains the id ${ids.join(', ')}`;
  return {
    at: received_at,
    text: `The exchange answered a create request with HTTP ${http_status}, which does not say whether it has the order. order-sync keeps the answer: ${seen}.`,
  };
}

function findingEntries(finding: StoryFinding): StoryEntry[] {
  const { class: name, severity, first_seen_at, last_seen_at, changed_by, changed_at, resolved_at, reason } = finding;
  // Only the newest values are stored.
  const values = ` Expected: ${finding.expected ?? 'nothing'}. Found: ${finding.actual ?? 'nothing'}.`;
  const meaning = findingClass(name)?.meaning;
  const first = `Finding ${name} (${severity})${meaning === undefined ? '.' : `: ${meaning}`}`;
  const entries: StoryEntry[] = [{ at: first_seen_at, text: last_seen_at === first_seen_at ? first + values : first }];
  if (last_seen_at !== first_seen_at)
    entries.push({ at: last_seen_at, text: `Finding ${name} was seen again.${values}` });
  if (changed_at !== null) {
    entries.push({ at: changed_at, text: `${changed_by ?? 'A person'} acknowledged finding ${name}: ${reason ?? ''}` });
  }
  if (resolved_at !== null)
    entries.push({ at: resolved_at, text: `Finding ${name} is resolved: it is no longer true.` });
  return entries;
}

export function isOpen({ first_seen_at, changed_at, resolved_at }: StoryFinding, until: string): boolean {
  const isOver = (at: string | null) => at !== null && at <= until;
  return first_seen_at <= until && !isOver(changed_at) && !isOver(resolved_at);
}

function findingLines(open: readonly StoryFinding[], moment: Pick<Moment, 'order' | 'events'>): readonly string[] {
  if (open.length === 0) return [];
  const ids = open.map(({ id }) => id).join(' ');
  const command = `order-sync findings ack ${ids} --reason TEXT${accountWords(moment.order.account)}`;
  return [
    ...new Set(
      open.map((finding) => {
        const lead =
          finding.severity === 'info' || isDecided(finding, moment) ? 'For information:' : 'A person should look at';
        return `${lead} finding ${finding.class}. ${adviceOn(finding, moment)}`;
      }),
    ),
    'To acknowledge the findings that a person has looked at:',
    command,
  ];
}

/** Says what to do about an open finding. */
export function adviceOn(finding: StoryFinding, moment: Pick<Moment, 'order' | 'events'>): string {
  if (isDecided(finding, moment))
    return 'A person has decided about the dispute. What is left is to acknowledge the finding.';
  const advice = findingClass(finding.class)?.advice ?? 'This version of order-sync does not know it.';
  return advice.replaceAll(/\bORDER\b/g, () => shellWord(moment.order.external_order_id));
}

/** Tells whether the finding belongs to a dispute that a person has ended. */
function isDecided({ class: name, first_seen_at }: StoryFinding, { events }: Pick<Moment, 'events'>): boolean {
  const last = events.findLast((one) => one.field === 'state' && [one.old_value, one.new_value].includes('disputed'));
  const isEnded = last?.old_value === 'disputed' && last.source === 'operator' && first_seen_at <= last.observed_at;
  return isEnded && DISPUTING_CLASSES.includes(name);
}

interface Context {
  readonly order: StoryOrder;
  readonly creates: number;
}

const STATUS_NAMES: Readonly<Record<string, string>> = {
  'order.status': 'the order',
  'cryptoTransaction.status': 'the crypto transaction',
  'fiatTransaction.status': 'the fiat transaction',
};

function eventSentence(event: StoryEvent, context: Context): string {
  const { field, old_value, new_value, reason } = event;
  if (field === 'state') return event.source === 'operator' ? decided(event, context) : moved(event, context);
  const status = STATUS_NAMES[field];
  if (status !== undefined) return statusSentence(status, event);
  if (field.startsWith('record.')) return fieldSentence(field.slice('record.'.length), event);
  if (field === 'finding') return `Finding ${new_value}: ${reason ?? ''}.`;
  return `${field} changed from ${old_value ?? 'nothing'} to ${new_value ?? 'nothing'}${because(reason)}.`;
}

function statusSentence(name: string, { old_value, new_value, exchange_time }: StoryEvent): string {
  const when = exchange_time === null ? '' : ` (dated ${exchange_time} by the exchange)`;
  if (new_value === null) return `The exchange no longer sends the status of ${name}, which was ${old_value}${when}.`;
  if (old_value === null) return `The status of ${name} is ${new_value}${when}.`;
  return `The status of ${name} changed from ${old_value} to ${new_value}${when}.`;
}

/** Of secrets only the change is known, of fields that are not documented only the names. */
function fieldSentence(name: string, { old_value, new_value }: StoryEvent): string {
  if (name === 'other') return `Other fields of the record changed: ${new_value}.`;
  if (old_value === null && new_value === 'changed') return `The ${name} of the record changed.`;
  return `The ${name} of the record changed from ${old_value ?? 'nothing'} to ${new_value ?? 'nothing'}.`;
}

function moved({ old_value, new_value, source, reason }: StoryEvent, { order, creates }: Context): string {
  const why = because(reason);
  const sentences: Readonly<Record<string, string>> = {
    // Whether it left only what follows tells.
    sending: `order-sync began create request ${creates}.`,
    accepted: `The exchange accepted the order as pre-order ${order.pre_order_id}: ${content(order)}.`,
    rejected: `The exchange refused the order${why}.`,
    invalid: `order-sync found the row invalid and sent nothing${why}.`,
    pending: source === 'import' ? 'The row was corrected and waits to be sent.' : waitsAgain(reason),
    unknown: `It is not known whether the exchange has the order${why}. order-sync looks the order up and does not send it again.`,
    abandoned: `The order was abandoned${why}.`,
    held: `order-sync held the order, so that a person decides${why}.`,
    disputed: `The order is disputed${why}. Do not act on it.`,
    open: `${appearance(old_value, order)}. order-sync follows it.`,
    final:
      old_value === 'open'
        ? 'The order ended at the exchange.'
        : `${appearance(old_value, order)}. It has ended there.`,
  };
  return sentences[new_value ?? ''] ?? `The state of the order changed from ${old_value} to ${new_value}${why}.`;
}

function waitsAgain(reason: string | null): string {
  const why = whyNeverLeft(reason);
  return why === undefined
    ? `The order waits to be sent again${because(reason)}.`
    : `The request did not leave this machine: ${why}. The order waits to be sent.`;
}

function appearance(old_value: string | null, { adopted_at }: StoryOrder): string {
  if (old_value === 'final') return 'The order that was final is open again';
  if (old_value === 'disputed') return 'The order no longer contradicts the row';
  if (old_value === 'rejected' || old_value === 'cancelled' || old_value === 'abandoned') {
    return `The exchange has the order, although it was ${old_value}`;
  }
  if (old_value === 'pending' && adopted_at !== null) return 'The order was adopted: the exchange had it already';
  if (old_value === 'pending') return 'The exchange has the order after all, so it is not sent again';
  return 'The order appeared at the exchange';
}

function decided({ old_value, new_value, reason, actor }: StoryEvent, { order }: Context): string {
  const deeds: Readonly<Record<string, string>> = {
    held: 'stopped the look-ups of the order',
    accepted: `decided that the exchange has the order as pre-order ${order.pre_order_id}`,
    pending: `decided that order-sync sends the order again (it was ${old_value})`,
    cancelled: 'cancelled the order before it was sent',
    abandoned: 'abandoned the order',
    open: 'decided that the order at the exchange is yours, although it contradicts the row',
    final: 'decided that the order at the exchange, which has ended, is yours, although it contradicts the row',
  };
  const deed = deeds[new_value ?? ''] ?? `changed the state of the order from ${old_value} to ${new_value}`;
  return `${actor ?? 'A person'} ${deed}${because(reason)}.`;
}

/** The row cannot have changed since the exchange accepted it. */
function content({ asset, asset_position: position, from_currency: from, to_currency: to }: StoryOrder): string {
  return position === 'INPUT' ? `${asset} ${from} to ${to}` : `${asset} in position ${position}, ${from} to ${to}`;
}

function because(reason: string | null): string {
  return reason === null ? '' : `: ${reason}`;
}
