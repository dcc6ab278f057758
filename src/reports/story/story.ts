import { findingClass } from '../../domain/findings/classes.ts';
import { describeHold, describeStop, stopRemedy, stops } from '../../domain/accounts/holds.ts';
import { accountWords } from '../../domain/accounts/name.ts';
import { FOLLOWED_STATES, type OrderState } from '../../domain/orders/states.ts';
import { eventSentence } from './events.ts';
import type { StoryEvent, StoryEvidence, StoryFinding, StoryKeptAnswer, StoryRecord } from './evidence.ts';
import { isNewest, whatNext, type Moment, type StorySettings } from './next.ts';
import type { StoryPace } from './pace.ts';

interface StoryEntry {
  readonly at: string;
  readonly text: string;
}

export interface Story {
  readonly externalOrderId: string;
  readonly asOf: string;
  /** Null where the order was not inserted yet. */
  readonly state: OrderState | null;
  readonly told: readonly StoryEntry[];
  /** What decides when it is looked up; null where nothing does now, and of the past. */
  readonly pace: StoryPace | null;
  readonly next: readonly string[];
}

/**
 * Builds the story of an order until `asOf`. The same evidence gives the same story, and the story of a later moment
 * begins with that of an earlier one.
 */
export function buildStory(evidence: StoryEvidence, asOf: Date, settings: StorySettings): Story {
  const { order, findings } = evidence;
  const { externalOrderId } = order;
  const until = asOf.toISOString();
  if (order.createdAt > until) {
    return { externalOrderId, asOf: until, state: null, told: [], pace: null, next: ['There is no such order yet.'] };
  }
  const events = evidence.events.filter(({ observedAt }) => observedAt <= until);
  const state = (events.findLast(({ field }) => field === 'state')?.newValue ?? 'pending') as OrderState;
  const entries = [
    { at: order.createdAt, text: 'The row was inserted.' },
    ...eventEntries(evidence),
    ...evidence.keptAnswers.map(keptEntry),
    ...lookupEntries(evidence, settings),
    ...findings.flatMap(findingEntries),
  ].filter(({ at }) => at <= until);
  const open = findings.filter((finding) => isOpen(finding, until));
  const stopped = stopLines(evidence, { state, asOf }, settings);
  const isLookedUp = stopped.length === 0 && isNewest({ order, asOf }) && order.nextActionAt !== null;
  const pace = isLookedUp ? evidence.pace : undefined;
  return {
    externalOrderId,
    asOf: until,
    state,
    // The sort keeps entries of one moment in the order of the list above.
    told: entries.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    pace: pace ?? null,
    next: [
      ...stopped,
      ...whatNext({ order, events, state, asOf, pace, isStopped: stopped.length > 0 }, settings),
      ...open.map(adviceOn),
    ],
  };
}

/** Why what comes next has to wait, or never comes: a hold of the account that stops it, or an account that nobody drives. */
function stopLines(
  { holds, stop, order }: StoryEvidence,
  { state, asOf }: Pick<Moment, 'state' | 'asOf'>,
  { isDriven = true, olderState }: StorySettings,
): readonly string[] {
  const isFollowed = (FOLLOWED_STATES as readonly OrderState[]).includes(state);
  const lane = state === 'pending' ? 'create' : isFollowed ? 'lookup' : undefined;
  if (lane === undefined) return [];
  const until = asOf.toISOString();
  const waiting = holds.filter((hold) => stops(hold, lane) && hold.since <= until);
  const lines = waiting.map((hold) => `It waits: ${describeHold(hold, order.account)}.`);
  // Of the past nobody knows who drove it.
  if (!isNewest({ order, asOf })) return lines;
  const what = lane === 'create' ? 'sent' : 'looked up';
  const stopped =
    stop === null
      ? olderState
      : { why: describeStop(stop), remedy: stopRemedy(stop.kind, accountWords(order.account)) };
  if (stopped !== undefined) lines.push(`It is not ${what}: ${stopped.why}.`, stopped.remedy);
  if (isDriven) return lines;
  return [...lines, `It is not ${what}: the account ${order.account} stands in no settings of this machine.`];
}

/** The events of the order. Those of stored findings are left out: the findings have entries of their own. */
function eventEntries({ order, events, findings }: StoryEvidence): readonly StoryEntry[] {
  const isStored = ({ field, newValue, observedAt }: StoryEvent) =>
    field === 'finding' && findings.some((one) => one.class === newValue && one.firstSeenAt === observedAt);
  let creates = 0;
  return events.flatMap((event) => {
    if (event.field === 'state' && event.newValue === 'sending') creates += 1;
    return isStored(event) ? [] : [{ at: event.observedAt, text: eventSentence(event, { order, creates }) }];
  });
}

function lookupEntries({ order, events, record }: StoryEvidence, { verifyAfter }: StorySettings): StoryEntry[] {
  const entries: StoryEntry[] = [];
  if (record !== null) entries.push({ at: record.receivedAt, text: recordSentence(record.view) });
  const { lastLookupAt } = order;
  if (lastLookupAt === null || lastLookupAt === record?.receivedAt) return entries;
  // The events of a look-up say what it changed.
  if (events.some(({ observedAt, source }) => observedAt === lastLookupAt && source === 'lookup')) return entries;
  const state = events.findLast(({ field, observedAt }) => field === 'state' && observedAt <= lastLookupAt)?.newValue;
  const spent = state === 'unknown' ? `; ${order.verifications} of ${verifyAfter.length} look-ups are spent` : '';
  const text =
    record === null ? `A look-up found no order${spent}.` : 'A look-up brought no newer record of the order.';
  return [...entries, { at: lastLookupAt, text }];
}

function recordSentence(view: StoryRecord | undefined): string {
  if (view === undefined) return 'The newest record came; it cannot be read.';
  const number = view.orderNumber === null ? '' : ` (number ${view.orderNumber})`;
  const facts = [
    view.inputAsset === null ? null : `${amount(view.inputAsset, view.fromCurrency)} in`,
    view.outputAsset === null ? null : `${amount(view.outputAsset, view.toCurrency)} out`,
    view.ratio === null ? null : `ratio ${view.ratio}`,
    view.fee === null ? null : `fee ${view.fee}`,
  ].filter((fact) => fact !== null);
  return `The newest record came: order ${view.orderId}${number}${facts.length === 0 ? '' : `, ${facts.join(', ')}`}.`;
}

function amount(value: string, currency: string | null): string {
  return currency === null ? value : `${value} ${currency}`;
}

function keptEntry({ receivedAt, httpStatus, ids }: StoryKeptAnswer): StoryEntry {
  const seen = ids.length === 0 ? 'no id can be seen in it' : `it bears the id ${ids.join(', ')}`;
  return {
    at: receivedAt,
    text: `An answer to a create, HTTP ${httpStatus}, did not settle what became of it; it is kept as received, and ${seen}.`,
  };
}

function findingEntries(finding: StoryFinding): StoryEntry[] {
  const { class: name, severity, firstSeenAt, lastSeenAt, changedBy, changedAt, resolvedAt, reason } = finding;
  // Only the newest values are stored.
  const values = ` Expected: ${finding.expected ?? 'nothing'}; is: ${finding.actual ?? 'nothing'}.`;
  const meaning = findingClass(name)?.meaning;
  const first = `Finding ${name} (${severity})${meaning === undefined ? '.' : `: ${meaning}`}`;
  const entries: StoryEntry[] = [{ at: firstSeenAt, text: lastSeenAt === firstSeenAt ? first + values : first }];
  if (lastSeenAt !== firstSeenAt) entries.push({ at: lastSeenAt, text: `Finding ${name} was seen again.${values}` });
  if (changedAt !== null) {
    entries.push({ at: changedAt, text: `${changedBy ?? 'Somebody'} acknowledged finding ${name}: ${reason ?? ''}` });
  }
  if (resolvedAt !== null) entries.push({ at: resolvedAt, text: `Finding ${name} is no longer true.` });
  return entries;
}

export function isOpen({ firstSeenAt, changedAt, resolvedAt }: StoryFinding, until: string): boolean {
  const isOver = (at: string | null) => at !== null && at <= until;
  return firstSeenAt <= until && !isOver(changedAt) && !isOver(resolvedAt);
}

function adviceOn({ class: name }: StoryFinding): string {
  return `A person should look at finding ${name}: ${findingClass(name)?.advice ?? 'this version does not know it.'}`;
}
