import { z } from 'zod';
import { listLinks } from '../../../store/links.ts';
import { OWN_ERRORS } from './errors.ts';
import { operation } from './operation.ts';
import { rememberedLinksValue } from './values.ts';

const DEFAULT_LIMIT = 50;

/** Operations about remembered links. */
export const LINK_OPERATIONS = {
  listLinks: operation({
    tag: 'links',
    summary: 'The newest remembered links, from the database.',
    query: z.object({
      status: z
        .string()
        .optional()
        .meta({ description: 'Only links with this status.', examples: ['NOT_VERIFIED'] }),
      limit: z.coerce
        .number<string>()
        .int()
        .min(1)
        .max(1_000)
        .default(DEFAULT_LIMIT)
        .meta({ description: 'At most so many.', examples: [50] }),
    }),
    values: { 200: rememberedLinksValue },
    errors: OWN_ERRORS,
    async run({ store, account }, filter) {
      const links = await listLinks(store.db, { account, ...filter });
      const shown = links.map(({ account: _account, ...link }) => link);
      return { kind: 'ok', body: JSON.stringify(shown) };
    },
  }),
};
