import type { LinkRow } from './tables/links.ts';

/** The origin of a stored link: created (§4.1), or looked up and followed (§4.3). */
type LinkSource = 'created' | 'followed';

/** One line of the history of a link (`events`). The values of `missing` are those of `missing_since`. */
export interface LinkEvent {
  readonly field: 'status' | 'missing';
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly source: LinkSource | 'check';
  readonly reason: string | null;
}

export type LinkDecision = Readonly<{ link: LinkRow; events: readonly LinkEvent[] }>;

/** A link as the exchange has just answered it. If `reference` is null, a stored reference stays. */
export type AnsweredLink = Pick<LinkRow, 'account' | 'link_id' | 'status' | 'reference'> & { source: LinkSource };

export type LinkAnswer = { readonly kind: 'found'; readonly status: string } | { readonly kind: 'not-found' };

export function decideRemembered(known: LinkRow | undefined, answered: AnsweredLink, now: Date): LinkDecision {
  const { status, source, reference } = answered;
  const at = now.toISOString();
  if (known === undefined) {
    const link = { ...answered, created_at: at, updated_at: at, last_checked_at: at, missing_since: null };
    return { link, events: [statusEvent(null, status, source)] };
  }
  const { link, events } = found(known, status, source, now);
  if (reference === null || reference === known.reference) return { link, events };
  return { link: { ...link, reference, updated_at: at }, events };
}

/** Decides how the answer to a check changes a stored link. A missing link is recorded once and kept. */
export function decideChecked(known: LinkRow, answer: LinkAnswer, now: Date): LinkDecision {
  if (answer.kind === 'found') return found(known, answer.status, 'check', now);
  const at = now.toISOString();
  const link = { ...known, last_checked_at: at };
  if (known.missing_since !== null) return { link, events: [] };
  const reason = 'the exchange does not find this link any more';
  const event = { field: 'missing', oldValue: null, newValue: at, source: 'check', reason } as const;
  return { link: { ...link, updated_at: at, missing_since: at }, events: [event] };
}

function found(known: LinkRow, status: string, source: LinkEvent['source'], now: Date): LinkDecision {
  const at = now.toISOString();
  const events: LinkEvent[] = [];
  if (known.missing_since !== null) {
    const reason = 'the exchange finds this link again';
    events.push({ field: 'missing', oldValue: known.missing_since, newValue: null, source, reason });
  }
  if (known.status !== status) events.push(statusEvent(known.status, status, source));
  const updated_at = events.length > 0 ? at : known.updated_at;
  return { link: { ...known, status, updated_at, last_checked_at: at, missing_since: null }, events };
}

function statusEvent(oldValue: string | null, newValue: string, source: LinkEvent['source']): LinkEvent {
  return { field: 'status', oldValue, newValue, source, reason: null };
}
