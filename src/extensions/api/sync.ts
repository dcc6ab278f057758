import type { FastifySchema } from 'fastify';
import { z } from 'zod';
import type { AccountInUse } from '../../accounts/account.ts';
import { messageOf } from '../../base/text.ts';
import { syncOnce, type SyncResult } from '../../orders/sync.ts';
import type { Counters } from '../../orders/pass/outcomes.ts';
import { STORE_PROBLEMS, StoreError, type StoreProblem } from '../../store/errors.ts';
import { SYNC } from './addresses.ts';
import { countParameter, OWN_ERRORS, schemaOf } from './operation.ts';

export type SyncLine =
  | { readonly type: 'progress'; readonly counts: Counters; readonly requests: number }
  | ({ readonly type: 'result' } & SyncResult)
  | { readonly type: 'error'; readonly message: string; readonly problem?: StoreProblem };

export const LINES = 'application/x-ndjson';
const PROGRESS_MS = 250;
const LONGEST_PASS_MS = 24 * 60 * 60_000;

const count = z.int().min(0);
const querySchema = z.object({
  scope: z
    .enum(['all', 'due'])
    .default('all')
    .meta({ description: 'Which of the followed orders are looked up.', examples: ['due'] }),
  timeoutMs: countParameter('The pass ends after this many milliseconds.', LONGEST_PASS_MS, 600_000),
});
const lineSchema = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('progress'),
      counts: z.record(z.string(), count),
      requests: count.describe('About how many requests the pass had to make when it began.'),
    }),
    z.object({
      type: z.literal('result'),
      end: z.enum(['done', 'look', 'out-of-reach', 'out-of-time', 'key-refused']),
      summary: z.record(z.string(), count),
      holds: z
        .array(z.record(z.string(), z.string().nullable()))
        .describe('What stops creates or all requests of the account, and why.'),
    }),
    z.object({
      type: z.literal('error'),
      message: z.string(),
      problem: z.enum(STORE_PROBLEMS).optional().describe('The problem of the database, if the database failed.'),
    }),
  ])
  .meta({
    description: 'One line of the answer.',
    examples: [
      { type: 'progress', counts: { sent: 3, accepted: 2 }, requests: 5 },
      { type: 'result', end: 'done', summary: { sent: 3, accepted: 3, remaining: 0 }, holds: [] },
    ],
  });

/** Called when work begins, so that the server waits for the work. `running` settles when the work ends. */
export type OnRun = (running: Promise<unknown>) => void;
export type SyncInput = z.output<typeof querySchema>;

const described = schemaOf('sync', SYNC, {
  tag: 'sync',
  summary: 'One pass: sends each pending order that is due, looks up each followed order once.',
  description: 'The answer comes in lines of JSON: `progress` now and then, at the end one `result` or `error`.',
  query: querySchema,
  value: lineSchema,
  errors: OWN_ERRORS,
});
const inLines = { description: 'Lines of JSON; the last one is a `result` or an `error`.' };
export const SYNC_SCHEMA: FastifySchema = {
  ...described,
  response: { ...described.response, 200: { ...inLines, content: { [LINES]: { schema: lineSchema } } } },
};

/** Begins one pass, and yields its progress and its result as lines of JSON. The pass ends early if `signal` aborts. */
export function syncLines(used: AccountInUse, scope: SyncInput['scope'], signal: AbortSignal, onRun: OnRun) {
  const { app } = used;
  let progress: { readonly counts: Readonly<Counters>; readonly requests: number } | undefined;
  let last: SyncLine | undefined;
  const running = syncOnce(app, scope, signal, (counts, requests) => (progress = { counts, requests }))
    .then((result) => (last = { type: 'result', ...result }))
    .catch((error: unknown) => {
      app.log.error({ cause: messageOf(error) }, 'a request to the API began a pass, and the pass failed');
      const message = error instanceof Error ? error.message : 'the pass failed';
      last = { type: 'error', message, ...(error instanceof StoreError && { problem: error.problem }) };
    })
    .finally(() => used[Symbol.dispose]());
  onRun(running);
  return lines();

  async function* lines(): AsyncGenerator<string> {
    while (last === undefined) {
      await Promise.race([running, app.clock.sleep(PROGRESS_MS)]);
      if (last === undefined && progress !== undefined) {
        yield lineOf({ type: 'progress', counts: { ...progress.counts }, requests: progress.requests });
      }
    }
    yield lineOf(last);
  }
}

const lineOf = (value: SyncLine) => `${JSON.stringify(value)}\n`;
