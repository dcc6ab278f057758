import { z } from 'zod';
import { withDigits } from './json.ts';

/** Text, or a number whose digits become text, because an exchange may write ids as numbers. */
export const worded = z.preprocess(withDigits, z.string());

/** The error body (§7). `status` may be missing, as in §4.5, or null. A `code` that is a number becomes text. */
export const error = z.object({
  message: z.string(),
  code: worded,
  status: z.preprocess((value) => value ?? undefined, z.string().optional()),
});

export type ErrorBody = z.output<typeof error>;
