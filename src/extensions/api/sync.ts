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
    .meta({ description: '`all` looks up each followed order, `due` only orders that are due.', examples: ['due'] }),
  timeoutMs: countParameter('The pass ends after this many milliseconds at the latest.', LONGEST_PASS_MS, 600_000),
});
const lineSchema = z
  .discriminatedUnion('type', [
    z.object({
      type: z.literal('progress'),
      counts: z.record(z.string(), count),
      requests: count.describe('The estimated number of requests of the whole pass.'),
    }),
    z.object({
      type: z.literal('result'),
      end: z.enum(['done', 'look', 'out-of-reach', 'out-of-time', 'key-refused']),
      summary: z.record(z.string(), count),
      holds: z
        .array(z.record(z.string(), z.string().nullable()))
        .describe('The holds of the account, with their reasons.'),
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

/** Called when work begins, because the server waits for the work before it closes. `running` settles at its end. */
export type OnRun = (running: Promise<unknown>) => void;
export type SyncInput = z.output<typeof querySchema>;

const described = schemaOf('sync', SYNC, {
  tag: 'sync',
  summary: 'Makes one pass: sends each pending order that is due, then looks up followed orders.',
  description: 'The answer is lines of JSON: any number of `progress` lines, then one `result` or `error`.',
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
