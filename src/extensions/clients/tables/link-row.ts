import { z } from 'zod';

/** A stored client link (§2.1), without the e-mail address of the client, and without its account. */
export const rememberedLink = z.object({
  link_id: z.string(),
  reference: z.string().nullable().describe('Your own name for it.'),
  source: z.string().describe('`created` or `followed`.'),
  /** An open string. */
  status: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  /** The time of the last answer that is evidence: the link, or the documented 404. */
  last_checked_at: z.string(),
  missing_since: z.string().nullable().describe('Since when the exchange does not have it any more.'),
});

export type LinkRow = Readonly<z.output<typeof rememberedLink> & { account: string }>;
