import { z } from 'zod';
import { withDigits } from './json.ts';

/** Text; a number is taken by its digits: an exchange may write its ids so. */
export const worded = z.preprocess(withDigits, z.string());

/** The error body (§7). §4.5 shows one without `status`; null is taken for that, and a number for the text of a code. */
export const error = z.object({
  message: z.string(),
  code: worded,
  status: z.preprocess((value) => value ?? undefined, z.string().optional()),
});

export type ErrorBody = z.output<typeof error>;
