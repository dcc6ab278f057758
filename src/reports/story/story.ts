import { FINDING_CLASSES, type FindingClass } from '../../domain/findings/classes.ts';
import type { OrderState } from '../../domain/orders/states.ts';
import { eventSentence } from './events.ts';
import type { StoryEvent, StoryEvidence, StoryFinding, StoryRecord } from './evidence.ts';
import { whatNext, type StorySettings } from './next.ts';

/** One thing that happened. */
export interface Told {
  readonly at: string;
  readonly text: string;
}

/** The story of an order up to a moment. */
export interface Story {
  readonly externalOrderId: string;
  readonly asOf: string;
  /** Null where the order was not inserted yet. */
  readonly state: OrderState | null;
  readonly told: readonly Told[];
  readonly next: readonly string[];
}

/**
 * Tells what happened to an order until `asOf` and what happens next. The same evidence tells the same story, and the
 * story of an earlier moment is how that of a later one begins.
 */
export function buildStory(evidence: StoryEvidence, asOf: Date, settings: StorySettings): Story {
  const { order, findings } = evidence;
  const { externalOrderId } = order;
  const until = asOf.toISOString();
  if (order.createdAt > until) {
    return { externalOrderId, asOf: until, state: null, told: [], next: ['There is no such order yet.'] };
  }
  const events = evidence.events.filter(({ observedAt }) => observedAt <= until);
  const state = (events.findLast(({ field }) => field === 'state')?.newValue ?? 'pending') as OrderState;
  const told = [
    { at: order.createdAt, text: 'The row was inserted.' },
    ...eventsTold(evidence),
    ...lookupsTold(evidence, settings),
    ...findings.flatMap(findingTold),
  ].filter(({ at }) => at <= until);
  const standing = findings.filter((finding) => stands(finding, until));
  return {
    externalOrderId,
    asOf: until,
    state,
    // The sort keeps what happened at one moment as it is listed above.
    told: told.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    next: [...whatNext({ order, events, state, asOf }, settings), ...standing.map(adviceOn)],
  };
}

/** The events; a finding that is written down is told of as such. */
function eventsTold({ order, events, findings }: StoryEvidence): readonly Told[] {
  const isWrittenDown = ({ field, newValue, observedAt }: StoryEvent) =>
    field === 'finding' && findings.some((one) => one.class === newValue && one.firstSeenAt === observedAt);
  let creates = 0;
  return events.flatMap((event) => {
    if (event.field === 'state' && event.newValue === 'sending') creates += 1;
    return isWrittenDown(event) ? [] : [{ at: event.observedAt, text: eventSentence(event, { order, creates }) }];
  });
}

/** What the last look-up brought, also where nothing changed by it. */
function lookupsTold({ order, events, record }: StoryEvidence, { verifyAfter }: StorySettings): Told[] {
  const told: Told[] = [];
  if (record !== null) told.push({ at: record.receivedAt, text: recordSentence(record.view) });
  const { lastLookupAt } = order;
  if (lastLookupAt === null || lastLookupAt === record?.receivedAt) return told;
  // What a look-up changed is told by its events.
  if (events.some(({ observedAt, source }) => observedAt === lastLookupAt && source === 'lookup')) return told;
  const state = events.findLast(({ field, observedAt }) => field === 'state' && observedAt <= lastLookupAt)?.newValue;
  const spent = state === 'unknown' ? `; ${order.verifications} of ${verifyAfter.length} look-ups are spent` : '';
  const text =
    record === null ? `A look-up found no order${spent}.` : 'A look-up brought no newer record of the order.';
  return [...told, { at: lastLookupAt, text }];
}

function recordSentence(view: StoryRecord): string {
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

/** A finding when it was first seen, last seen, acknowledged and no longer true. */
function findingTold(finding: StoryFinding): Told[] {
  const { class: name, severity, firstSeenAt, lastSeenAt, changedBy, changedAt, resolvedAt, reason } = finding;
  // The values are those of the last time; what they were before is not kept.
  const values = ` Expected: ${finding.expected ?? 'nothing'}; is: ${finding.actual ?? 'nothing'}.`;
  const meaning = classOf(name)?.meaning;
  const first = `Finding ${name} (${severity})${meaning === undefined ? '.' : `: ${meaning}`}`;
  const told: Told[] = [{ at: firstSeenAt, text: lastSeenAt === firstSeenAt ? first + values : first }];
  if (lastSeenAt !== firstSeenAt) told.push({ at: lastSeenAt, text: `Finding ${name} was seen again.${values}` });
  if (changedAt !== null) {
    told.push({ at: changedAt, text: `${changedBy ?? 'Somebody'} acknowledged finding ${name}: ${reason ?? ''}` });
  }
  if (resolvedAt !== null) told.push({ at: resolvedAt, text: `Finding ${name} is no longer true.` });
  return told;
}

function stands({ firstSeenAt, changedAt, resolvedAt }: StoryFinding, until: string): boolean {
  const isOver = (at: string | null) => at !== null && at <= until;
  return firstSeenAt <= until && !isOver(changedAt) && !isOver(resolvedAt);
}

function adviceOn({ class: name }: StoryFinding): string {
  return `A person should look at finding ${name}: ${classOf(name)?.advice ?? 'this version does not know it.'}`;
}

function classOf(name: string): FindingClass | undefined {
  return (FINDING_CLASSES as Readonly<Record<string, FindingClass>>)[name];
}
