/** What the program knows of one client link (§2.1). The client's e-mail address is not among it. */
export interface TrackedLink {
  readonly account: string;
  readonly linkId: string;
  /** The merchant's own name for it. */
  readonly reference: string | null;
  readonly source: LinkSource;
  /** As the exchange last gave it; an open string. */
  readonly status: string;
  readonly createdAt: Date;
  /** When something of it last changed. */
  readonly updatedAt: Date;
  /** The last answer that is evidence: the link, or the documented 404. */
  readonly lastCheckedAt: Date;
  /** Since when the exchange does not find it; null while it does. */
  readonly missingSince: Date | null;
}

/** How a link came to be remembered: made with §4.1, or adopted with §4.3. */
export type LinkSource = 'created' | 'followed';

/** One line of a link's history (`link_events`). The values of `missing` are those of `missing_since`. */
export interface LinkEvent {
  readonly field: 'status' | 'missing';
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly source: LinkSource | 'check';
  readonly reason: string | null;
}

/** What is to be written about one link, in one transaction. */
export interface LinkDecision {
  readonly link: TrackedLink;
  readonly events: readonly LinkEvent[];
}

/** A link that the exchange has just told of, and that is to be remembered. */
export interface ToldLink {
  readonly account: string;
  readonly linkId: string;
  readonly status: string;
  /** Null: the one that is remembered stays. */
  readonly reference: string | null;
  readonly source: LinkSource;
}

/** An answer of §4.3 that is evidence. */
export type LinkAnswer = { readonly kind: 'found'; readonly status: string } | { readonly kind: 'not-found' };

/** Remembers a link, or brings the one that is remembered up to date. */
export function decideRemembered(known: TrackedLink | undefined, told: ToldLink, now: Date): LinkDecision {
  if (known === undefined) {
    const link = { ...told, createdAt: now, updatedAt: now, lastCheckedAt: now, missingSince: null };
    return { link, events: [statusEvent(null, told.status, told.source)] };
  }
  const { link, events } = found(known, told.status, told.source, now);
  if (told.reference === null || told.reference === known.reference) return { link, events };
  return { link: { ...link, reference: told.reference, updatedAt: now }, events };
}

/** Writes down what a look at a remembered link brought. That it is missing is recorded once; it is not forgotten. */
export function decideChecked(known: TrackedLink, answer: LinkAnswer, now: Date): LinkDecision {
  if (answer.kind === 'found') return found(known, answer.status, 'check', now);
  const link = { ...known, lastCheckedAt: now };
  if (known.missingSince !== null) return { link, events: [] };
  const reason = 'the exchange does not find this link any more';
  const event = missingEvent(null, now, 'check', reason);
  return { link: { ...link, updatedAt: now, missingSince: now }, events: [event] };
}

function found(known: TrackedLink, status: string, source: LinkEvent['source'], now: Date): LinkDecision {
  const events: LinkEvent[] = [];
  if (known.missingSince !== null) {
    events.push(missingEvent(known.missingSince, null, source, 'the exchange finds this link again'));
  }
  if (known.status !== status) events.push(statusEvent(known.status, status, source));
  const updatedAt = events.length > 0 ? now : known.updatedAt;
  return { link: { ...known, status, updatedAt, lastCheckedAt: now, missingSince: null }, events };
}

function statusEvent(oldValue: string | null, newValue: string, source: LinkEvent['source']): LinkEvent {
  return { field: 'status', oldValue, newValue, source, reason: null };
}

function missingEvent(
  oldValue: Date | null,
  newValue: Date | null,
  source: LinkEvent['source'],
  reason: string,
): LinkEvent {
  const text = (since: Date | null) => since?.toISOString() ?? null;
  return { field: 'missing', oldValue: text(oldValue), newValue: text(newValue), source, reason };
}
