import { z } from 'zod';

/** A stored client link (§2.1), without the client's e-mail address and the name of the account. */
export const rememberedLink = z.object({
  link_id: z.string(),
  reference: z.string().nullable().describe('Your own name for the link.'),
  source: z.string().describe('`created` or `followed`.'),
  /** Any text, because the interface shows only `NOT_VERIFIED` (§3). */
  status: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** The last time that the exchange answered with the link, or with the 404 for an unknown link (§7). */
  last_checked_at: z.string(),
  missing_since: z
    .string()
    .nullable()
    .describe('When a check first did not find the link; null if the exchange has it.'),
});

export type LinkRow = Readonly<z.output<typeof rememberedLink> & { account: string }>;

/** How the link was first stored: by its creation (§4.1), or by a look-up on request (§4.3). */
type LinkSource = 'created' | 'followed';

/** A change of a link. If `field` is `missing`, the values are those of `missing_since`. */
export interface LinkEvent {
  readonly field: 'status' | 'missing';
  readonly oldValue: string | null;
  readonly newValue: string | null;
  readonly source: LinkSource | 'check';
  readonly reason: string | null;
}

export type LinkDecision = Readonly<{ link: LinkRow; events: readonly LinkEvent[] }>;

/** A link from an answer, with the merchant's reference. A null `reference` keeps the stored reference. */
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

/** Decides how the answer to a check changes a stored link. A missing link stays stored, and gets one event. */
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
