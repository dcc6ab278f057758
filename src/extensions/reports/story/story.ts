import { describeStop, stopRemedy } from '../../operate/rules/problems.ts';
import { shellWord } from '../../../base/text.ts';
import { describeRestraint, stops } from '../../../accounts/rules/restraints.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { keyRemedy } from '../../commands/problem.ts';
import { ASK_ABOUT_HELD, findingClass, QUESTION_OF_OWN, questionOfOwn } from '../../operate/finding-classes.ts';
import { isDecided, statesToDecide } from '../../operate/rules/decided.ts';
import type { OrderState } from '../../../orders/rules/states.ts';
import type { RecordView } from '../../../orders/rules/record.ts';
import { evidenceAt, type StoryEvent, type StoryEvidence, type StoryFinding } from '../tables/story.ts';
import { headlineSentence, type HeadlineFacts } from '../../documents/headline.ts';
import { eventSentence } from './sentences.ts';
import { CAN_END, isNewest, nextLane, whatNext, type Moment, type StorySettings } from './next.ts';
import { capitalized, compareTexts } from '../../documents/words.ts';

type StoryEntry = { readonly at: string; readonly text: string };

export type Story = ReturnType<typeof buildStory>;

/** For the same evidence, `told` of a later `asOf` begins with `told` of an earlier `asOf`. */
export function buildStory(all: StoryEvidence, asOf: Date, settings: StorySettings) {
  const until = asOf.toISOString();
  const evidence = evidenceAt(all, until);
  const { order, events, findings } = evidence;
  const { external_order_id: externalOrderId } = order;
  if (order.created_at > until) {
    const none = { state: null, outcome: null, headline: 'The order did not exist yet', told: [], pace: null };
    return { externalOrderId, asOf: until, ...none, next: ['The row had not been inserted into the database.'] };
  }
  const state = (events.findLast(({ field }) => field === 'state')?.new_value ?? 'pending') as OrderState;
  const outcome = state === 'final' && order.updated_at <= until ? order.outcome : null;
  const entries = [
    { at: order.created_at, text: 'The row was inserted into the database.' },
    ...eventEntries(all),
    ...all.keptAnswers.map(keptEntry),
    ...lookupEntries(all, settings),
    ...all.findings.flatMap(findingEntries),
  ].filter((entry): entry is StoryEntry => entry.at !== null && entry.at <= until);
  const moment = { ...settings, order, events, state, asOf };
  const stopped = stopLines(evidence, moment);
  const isStopped = stopped.length > 0;
  const spacing = isStopped || !isNewest(moment) || order.next_action_at === null ? undefined : settings.spacing;
  const isVanished = findings.some((one) => one.class === 'ORDER_VANISHED' && one.resolved_at === null);
  const next = whatNext({ ...moment, spacing, isStopped, isVanished });
  // A decision needs no request, so its commands come before the lines about stopped requests.
  const lines = state === 'held' || CAN_END.includes(state) ? [...next, ...stopped] : [...stopped, ...next];
  return {
    externalOrderId,
    asOf: until,
    state,
    outcome,
    headline: headline({ state, outcome }, evidence),
    // The sort keeps entries of the same time in the order of `entries`.
    told: entries.toSorted((a, b) => compareTexts(a.at, b.at)),
    pace: spacing?.facts ?? null,
    next: [...lines, ...findingLines(findings.filter(isOpen), moment)],
  };
}

export function beginOf(events: readonly StoryEvent[]): StoryEvent | undefined {
  const changes = events.filter(({ field }) => field === 'state');
  const newest = changes.at(-1);
  if (newest?.new_value !== 'pending') return newest;
  const isOfAttempt = (state: string | null) => state === 'pending' || state === 'sending';
  return changes.findLast(({ old_value, new_value }) => !(isOfAttempt(old_value) && isOfAttempt(new_value)));
}

/** The headline names no time if a person decided the state, because the order may have had that state for longer. */
function headline(facts: HeadlineFacts, { order, events, findings }: StoryEvidence): string {
  const begin = beginOf(events);
  const since = begin?.source === 'operator' ? undefined : (begin?.observed_at ?? order.created_at);
  const compared = facts.state === 'abandoned' ? [] : findings.filter(({ resolved_at }) => resolved_at === null);
  const other = compared.find((one) => one.class === 'AMOUNT_MISMATCH');
  const amounts = other && `. Its amount is ${other.actual} at the exchange and ${other.expected} in the row`;
  const isAgain = facts.state === 'pending' && begin?.source === 'operator' && begin.old_value !== 'invalid';
  const vanished = compared.some((one) => one.class === 'ORDER_VANISHED') ? '. The exchange no longer finds it' : '';
  return `${headlineSentence(facts, since)}${isAgain ? ' again' : ''}${amounts ?? ''}${vanished}`;
}

function stopLines({ holds, stop, order }: StoryEvidence, moment: Moment): readonly string[] {
  const { isDriven = true, blocked, keyPlace } = moment;
  const lane = nextLane(moment);
  if (lane === undefined) return [];
  const what = lane === 'create' ? 'sent' : 'looked up';
  const waiting = holds.filter((hold) => stops(hold, lane));
  const lines = waiting.flatMap((hold) => [
    `The order is not ${what}: ${describeRestraint(hold, order.account)}.`,
    ...(hold.kind === 'key-refused' && isNewest(moment) ? [`${capitalized(keyRemedy(keyPlace))}.`] : []),
  ]);
  // `stop`, `blocked` and `isDriven` are present values, so they say nothing about an earlier `asOf`.
  if (!isNewest(moment)) return lines;
  const stopped =
    stop === null ? blocked : { why: describeStop(stop), remedy: stopRemedy(stop.kind, accountWords(order.account)) };
  if (stopped !== undefined) lines.push(`The order is not ${what}: ${stopped.why}.`, stopped.remedy);
  if (isDriven) return lines;
  return [...lines, `The order is not ${what}: the settings of this machine do not have the account ${order.account}.`];
}

/** Leaves out events of stored findings, which `findingEntries` returns, and moves to `held` by a person's decision. */
function eventEntries({ order, events, findings }: StoryEvidence): readonly StoryEntry[] {
  const isShown = ({ field, source, new_value, observed_at }: StoryEvent) =>
    field === 'finding'
      ? !findings.some((one) => one.class === new_value && one.first_seen_at === observed_at)
      : !(field === 'state' && source === 'operator' && new_value === 'held');
  let creates = 0;
  const entries = events.map((event) => {
    if (event.field === 'state' && event.new_value === 'sending') creates += 1;
    return { event, at: event.observed_at, text: eventSentence(event, { order, creates }) };
  });
  // An order appears before it has a status, so a first status comes after the other events of the same time.
  const isFirst = ({ field, old_value }: StoryEvent) => field.endsWith('.status') && old_value === null;
  return entries
    .filter(({ event }) => isShown(event))
    .toSorted((a, b) => Number(isFirst(a.event)) - Number(isFirst(b.event)))
    .map(({ at, text }) => ({ at, text }));
}

function lookupEntries({ order, events, record }: StoryEvidence, { verifyAfter }: StorySettings) {
  const { last_lookup_at: at } = order;
  const entry = record === null ? [] : [{ at: record.received_at, text: recordSentence(record.view) }];
  if (at === record?.received_at) return entry;
  // The events of this look-up already say what the look-up changed.
  if (events.some(({ observed_at, source }) => observed_at === at && source === 'lookup')) return entry;
  const before = events.filter(({ observed_at }) => observed_at <= (at ?? ''));
  const state = before.findLast(({ field }) => field === 'state')?.new_value;
  const spent = state === 'unknown' ? `; ${order.verifications} of ${verifyAfter.length} look-ups are done` : '';
  const isAbsent = record === null || order.absent_at === at;
  const text = isAbsent ? `A look-up found no order${spent}.` : 'A look-up found no newer record of the order.';
  return [...entry, { at, text }];
}

function recordSentence(view: RecordView | undefined): string {
  if (view === undefined) return 'order-sync received the newest record of the order, and cannot read it.';
  const facts = [
    `id ${view.orderId}`,
    view.orderNumber === null ? null : `number ${view.orderNumber}`,
    view.inputAsset === null ? null : `${[view.inputAsset, view.fromCurrency].join(' ').trimEnd()} in`,
    view.outputAsset === null ? null : `${[view.outputAsset, view.toCurrency].join(' ').trimEnd()} out`,
    view.ratio === null ? null : `ratio ${view.ratio}`,
    view.fee === null ? null : `fee ${view.fee}`,
  ].filter((fact) => fact !== null);
  return `order-sync received the newest record of the order: ${facts.join(', ')}.`;
}

function keptEntry({ received_at, http_status, ids }: StoryEvidence['keptAnswers'][number]): StoryEntry {
  const seen = ids.length === 0 ? 'it contains no id' : `it contains the id ${ids.join(', ')}`;
  return {
    at: received_at,
    text: `The exchange answered a create request with HTTP ${http_status}, but order-sync cannot take the answer for the pre-order of this order. It keeps the answer: ${seen}.`,
  };
}

function findingEntries(finding: StoryFinding) {
  const { class: name, severity, first_seen_at, last_seen_at, changed_by, changed_at, resolved_at, reason } = finding;
  // The database has only the values of the newest sighting.
  const values = ` Expected: ${finding.expected ?? 'nothing'}. Found: ${finding.actual ?? 'nothing'}.`;
  const meaning = findingClass(name)?.meaning;
  const first = `Finding ${name} (${severity})${meaning === undefined ? '.' : `: ${meaning}`}`;
  const isAgain = last_seen_at !== first_seen_at;
  return [
    { at: first_seen_at, text: isAgain ? first : first + values },
    { at: isAgain ? last_seen_at : null, text: `Finding ${name} was seen again.${values}` },
    { at: changed_at, text: `${changed_by ?? 'A person'} acknowledged finding ${name}: ${reason ?? ''}` },
    { at: resolved_at, text: `Finding ${name} is resolved: it is no longer true.` },
  ];
}

export function isOpen({ resolved_at, changed_at }: StoryFinding): boolean {
  return resolved_at === null && changed_at === null;
}

function findingLines(open: readonly StoryFinding[], moment: Moment) {
  if (open.length === 0) return [];
  // A finding that a decision would settle has no command here, because it must stay listed until the decision.
  const ready = open.filter((finding) => !statesToDecide(finding.class).includes(moment.state));
  const ids = ready.map(({ id }) => id).join(' ');
  const command = `order-sync findings ack ${ids} --reason TEXT${accountWords(moment.order.account)}`;
  return [
    ...new Set(
      open.map((finding) => {
        const isInfo = finding.severity === 'info' || isDecided(finding, moment.events);
        const lead = isInfo ? 'For information:' : 'A person should look at';
        // `whatNext` already returns the advice of this class for a disputed order.
        const isSaid = finding.class === 'ID_COLLISION' && moment.state === 'disputed';
        const said = `Do not pay or deliver for this order. Decide with ${ABOVE}.`;
        const advice = isSaid ? said : adviceOn(finding, moment).replace(HERE, ABOVE);
        return `${lead} finding ${finding.class}. ${advice}`;
      }),
    ),
    ...(ready.length === 0 ? [] : ['To acknowledge the findings that a person has looked at:', command]),
  ];
}

const ABOVE = 'one of the commands above';
const HERE = 'one of the commands under "What happens next" of the order';

export function adviceOn(finding: StoryFinding, moment: Pick<Moment, 'order' | 'events'>): string {
  if (isDecided(finding, moment.events))
    return 'A person has decided about the order. The finding only needs to be acknowledged.';
  const { external_order_id: id, account, pre_order_id: preOrderId } = moment.order;
  const state = moment.events.findLast(({ field }) => field === 'state')?.new_value;
  const ofClass = findingClass(finding.class)?.advice ?? 'This version of order-sync does not know this class.';
  const advice = finding.class === 'CREATE_UNKNOWN' && state === 'held' ? capitalized(ASK_ABOUT_HELD) : ofClass;
  return advice
    .replace('a command that order-sync orders explain ORDER shows', HERE)
    .replaceAll(/\bORDER\b/g, () => shellWord(id))
    .replaceAll('--reason TEXT', () => `--reason TEXT${accountWords(account)}`)
    .replace(QUESTION_OF_OWN, () => questionOfOwn(preOrderId));
}
