import { describeStop, stopRemedy } from '../../operate/rules/problems.ts';
import { shellWord } from '../../../base/text.ts';
import { describeRestraint, stops } from '../../../accounts/rules/restraints.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { keyRemedy } from '../../../accounts/problem.ts';
import { ASK_ABOUT_HELD, findingClass } from '../../operate/finding-classes.ts';
import { isDecided, statesToDecide } from '../../operate/rules/decided.ts';
import { capitalized } from '../../../base/words.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import type { RecordView } from '../../../orders/rules/record.ts';
import type { StoryEvent, StoryEvidence, StoryFinding } from '../tables/story.ts';
import { headlineSentence, type HeadlineFacts } from '../../documents/headline.ts';
import { eventSentence } from './sentences.ts';
import { CAN_END, isNewest, nextLane, whatNext, type Moment, type StorySettings } from './next.ts';
import { compareTexts } from '../../documents/words.ts';

type StoryEntry = { readonly at: string; readonly text: string };

export interface Story {
  readonly externalOrderId: string;
  readonly asOf: string;
  readonly state: OrderState | null;
  readonly outcome: string | null;
  readonly headline: string;
  readonly told: readonly StoryEntry[];
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
  const stopped = stopLines(evidence, { order, events, state, asOf }, settings);
  const isLookedUp = stopped.length === 0 && isNewest({ order, asOf }) && order.next_action_at !== null;
  const spacing = isLookedUp ? settings.spacing : undefined;
  const isVanished = findings.some((one) => one.class === 'ORDER_VANISHED' && isTrue(one, until));
  const planned = { order, events, state, asOf, spacing, isStopped: stopped.length > 0, isVanished };
  const next = whatNext(planned, settings);
  // The steps for a decision come first, because a decision waits for nothing.
  const lines = state === 'held' || CAN_END.includes(state) ? [...next, ...stopped] : [...stopped, ...next];
  return {
    externalOrderId,
    asOf: until,
    state,
    outcome,
    headline: headline({ state, outcome }, events, evidence, until),
    // The sort keeps entries of one moment in the order of the list above.
    told: entries.toSorted((a, b) => compareTexts(a.at, b.at)),
    pace: spacing?.facts ?? null,
    next: [...lines, ...findingLines(open, { order, events, state })],
  };
}

export function beginOf(events: readonly StoryEvent[]): StoryEvent | undefined {
  const changes = events.filter(({ field }) => field === 'state');
  const newest = changes.at(-1);
  if (newest?.new_value !== 'pending') return newest;
  const isOfAttempt = (state: string | null) => state === 'pending' || state === 'sending';
  return changes.findLast(({ old_value, new_value }) => !(isOfAttempt(old_value) && isOfAttempt(new_value)));
}

/** A person's decision does not tell since when its state is true, so the headline then names no time. */
function headline(facts: HeadlineFacts, events: readonly StoryEvent[], evidence: StoryEvidence, until: string) {
  const { order, findings } = evidence;
  const begin = beginOf(events);
  const since = begin?.source === 'operator' ? undefined : (begin?.observed_at ?? order.created_at);
  const compared = facts.state === 'abandoned' ? [] : findings;
  const other = compared.find((one) => one.class === 'AMOUNT_MISMATCH' && isTrue(one, until));
  const amounts = other && `. Its amount is ${other.actual} at the exchange and ${other.expected} in the row`;
  const isAgain = facts.state === 'pending' && begin?.source === 'operator' && begin.old_value !== 'invalid';
  const isVanished = compared.some((one) => one.class === 'ORDER_VANISHED' && isTrue(one, until));
  const vanished = isVanished ? '. The exchange no longer finds it' : '';
  return `${headlineSentence(facts, since)}${isAgain ? ' again' : ''}${amounts ?? ''}${vanished}`;
}

function stopLines({ holds, stop, order }: StoryEvidence, moment: Moment, settings: StorySettings): readonly string[] {
  const { isDriven = true, blocked, keyPlace } = settings;
  const { asOf } = moment;
  const lane = nextLane(moment, settings);
  if (lane === undefined) return [];
  const what = lane === 'create' ? 'sent' : 'looked up';
  const until = asOf.toISOString();
  const waiting = holds.filter((hold) => stops(hold, lane) && hold.since <= until);
  const lines = waiting.flatMap((hold) => [
    `The order is not ${what}: ${describeRestraint(hold, order.account)}.`,
    ...(hold.kind === 'key-refused' && isNewest({ order, asOf }) ? [`${capitalized(keyRemedy(keyPlace))}.`] : []),
  ]);
  // The owners of the past are not known.
  if (!isNewest({ order, asOf })) return lines;
  const stopped =
    stop === null ? blocked : { why: describeStop(stop), remedy: stopRemedy(stop.kind, accountWords(order.account)) };
  if (stopped !== undefined) lines.push(`The order is not ${what}: ${stopped.why}.`, stopped.remedy);
  if (isDriven) return lines;
  return [...lines, `The order is not ${what}: the settings of this machine do not have the account ${order.account}.`];
}

/** Leaves out events of stored findings, which have entries of their own, and the step to `held` in a decision. */
function eventEntries({ order, events, findings }: StoryEvidence): readonly StoryEntry[] {
  const isTold = ({ field, source, new_value, observed_at }: StoryEvent) =>
    field === 'finding'
      ? !findings.some((one) => one.class === new_value && one.first_seen_at === observed_at)
      : !(field === 'state' && source === 'operator' && new_value === 'held');
  let creates = 0;
  const entries = events.map((event) => {
    if (event.field === 'state' && event.new_value === 'sending') creates += 1;
    return { event, at: event.observed_at, text: eventSentence(event, { order, creates }) };
  });
  // First statuses come last among entries of one moment, because an order appears before it has a status.
  const isFirst = ({ field, old_value }: StoryEvent) => field.endsWith('.status') && old_value === null;
  return entries
    .filter(({ event }) => isTold(event))
    .toSorted((a, b) => Number(isFirst(a.event)) - Number(isFirst(b.event)))
    .map(({ at, text }) => ({ at, text }));
}

function lookupEntries({ order, events, record }: StoryEvidence, { verifyAfter }: StorySettings): StoryEntry[] {
  const entries: StoryEntry[] = [];
  if (record !== null) entries.push({ at: record.received_at, text: recordSentence(record.view) });
  const { last_lookup_at } = order;
  if (last_lookup_at === null || last_lookup_at === record?.received_at) return entries;
  // The events of a look-up say what it changed.
  if (events.some(({ observed_at, source }) => observed_at === last_lookup_at && source === 'lookup')) return entries;
  const before = events.filter(({ observed_at }) => observed_at <= last_lookup_at);
  const state = before.findLast(({ field }) => field === 'state')?.new_value;
  const spent = state === 'unknown' ? `; ${order.verifications} of ${verifyAfter.length} look-ups are done` : '';
  const isAbsent = record === null || order.absent_at === last_lookup_at;
  const text = isAbsent ? `A look-up found no order${spent}.` : 'A look-up found no newer record of the order.';
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

export function isOpen(finding: StoryFinding, until: string): boolean {
  return isTrue(finding, until) && !(finding.changed_at !== null && finding.changed_at <= until);
}

function isTrue({ first_seen_at, resolved_at }: StoryFinding, until: string): boolean {
  return first_seen_at <= until && !(resolved_at !== null && resolved_at <= until);
}

function findingLines(open: readonly StoryFinding[], moment: Pick<Moment, 'order' | 'events' | 'state'>) {
  if (open.length === 0) return [];
  // A finding that the decision settles is not acknowledged here: it must stay listed until a person decides.
  const ready = open.filter((finding) => !statesToDecide(finding.class).includes(moment.state));
  const ids = ready.map(({ id }) => id).join(' ');
  const command = `order-sync findings ack ${ids} --reason TEXT${accountWords(moment.order.account)}`;
  return [
    ...new Set(
      open.map((finding) => {
        const isInfo = finding.severity === 'info' || isDecided(finding, moment.events);
        const lead = isInfo ? 'For information:' : 'A person should look at';
        // The decisions above say the same at length.
        const isSaid = finding.class === 'ID_COLLISION' && moment.state === 'disputed';
        const advice = isSaid ? SAID_ABOVE : adviceOn(finding, moment).replace(HERE, ABOVE);
        return `${lead} finding ${finding.class}. ${advice}`;
      }),
    ),
    ...(ready.length === 0 ? [] : ['To acknowledge the findings that a person has looked at:', command]),
  ];
}

const ABOVE = 'one of the commands above';
const SAID_ABOVE = `Do not pay or deliver for this order. Decide with ${ABOVE}.`;
const HERE = 'one of the commands under "What happens next" of the order';

const DECIDED = 'A person has decided about the order. The finding only needs to be acknowledged.';

export function adviceOn(finding: StoryFinding, moment: Pick<Moment, 'order' | 'events'>): string {
  if (isDecided(finding, moment.events)) return DECIDED;
  const { external_order_id: id, account, pre_order_id: preOrderId } = moment.order;
  const state = moment.events.findLast(({ field }) => field === 'state')?.new_value;
  const ofClass = findingClass(finding.class)?.advice ?? 'This version of order-sync does not know it.';
  const advice = finding.class === 'CREATE_UNKNOWN' && state === 'held' ? capitalized(ASK_ABOUT_HELD) : ofClass;
  return advice
    .replace('a command that order-sync orders explain ORDER shows', HERE)
    .replaceAll(/\bORDER\b/g, () => shellWord(id))
    .replaceAll('--reason TEXT', () => `--reason TEXT${accountWords(account)}`)
    .replace(', if there is one', (words) => (preOrderId === null ? words : ` ${preOrderId}`));
}
