/** A stored client link (§2.1), without the e-mail address of the client. */
export interface TrackedLink {
  readonly account: string;
  readonly linkId: string;
  readonly reference: string | null;
  readonly source: LinkSource;
  /** The status that the exchange gave last; an open string. */
  readonly status: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** The last answer that is evidence: the link, or the documented 404. */
  readonly lastCheckedAt: Date;
  readonly missingSince: Date | null;
}

/** The origin of a stored link: created (§4.1), or looked up and followed (§4.3). */
export type LinkSource = 'created' | 'followed';

/** One line of the history of a link (`events`). The values of `missing` are those of `missing_since`. */
export interface LinkEvent {
  readonly field: 'status' | 'missing';
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly source: LinkSource | 'check';
  readonly reason: string | null;
}

export interface LinkDecision {
  readonly link: TrackedLink;
  readonly events: readonly LinkEvent[];
}

/** A link that the exchange has just answered, to be stored; a stored reference stays where it has none. */
export type AnsweredLink = Pick<TrackedLink, 'account' | 'linkId' | 'status' | 'reference' | 'source'>;

export type LinkAnswer = { readonly kind: 'found'; readonly status: string } | { readonly kind: 'not-found' };

export function decideRemembered(known: TrackedLink | undefined, answered: AnsweredLink, now: Date): LinkDecision {
  const { status, source, reference } = answered;
  if (known === undefined) {
    const link = { ...answered, createdAt: now, updatedAt: now, lastCheckedAt: now, missingSince: null };
    return { link, events: [statusEvent(null, status, source)] };
  }
  const { link, events } = found(known, status, source, now);
  if (reference === null || reference === known.reference) return { link, events };
  return { link: { ...link, reference, updatedAt: now }, events };
}

/** Decides what the answer to a check does to a stored link. A missing link is recorded once and kept. */
export function decideChecked(known: TrackedLink, answer: LinkAnswer, now: Date): LinkDecision {
  if (answer.kind === 'found') return found(known, answer.status, 'check', now);
  const link = { ...known, lastCheckedAt: now };
  if (known.missingSince !== null) return { link, events: [] };
  const reason = 'the exchange does not find this link any more';
  const event = { field: 'missing', oldValue: null, newValue: now.toISOString(), source: 'check', reason } as const;
  return { link: { ...link, updatedAt: now, missingSince: now }, events: [event] };
}

function found(known: TrackedLink, status: string, source: LinkEvent['source'], now: Date): LinkDecision {
  const events: LinkEvent[] = [];
  if (known.missingSince !== null) {
    const [oldValue, reason] = [known.missingSince.toISOString(), 'the exchange finds this link again'];
    events.push({ field: 'missing', oldValue, newValue: null, source, reason });
  }
  if (known.status !== status) events.push(statusEvent(known.status, status, source));
  const updatedAt = events.length > 0 ? now : known.updatedAt;
  return { link: { ...known, status, updatedAt, lastCheckedAt: now, missingSince: null }, events };
}

function statusEvent(oldValue: string | null, newValue: string, source: LinkEvent['source']): LinkEvent {
  return { field: 'status', oldValue, newValue, source, reason: null };
}
