import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { serializerCompiler, validatorCompiler } from 'fastify-type-provider-zod';
import { deadline } from '../../base/clock.ts';
import type { AccountInUse } from '../../accounts/account.ts';
import type { Extension } from '../../cli/extension.ts';
import { SYNC } from './addresses.ts';
import type { Caller, Scope } from './caller.ts';
import { LONGEST_WAIT_MS } from './asking/client.ts';
import { PROBLEM_TYPE, writeEnvelope, type Result } from './envelope.ts';
import { NOT_OWNER_RESULT, schemaOf } from './operation.ts';
import type { Accounts, Operation, ReadDeps, ReadOperation } from './operation.ts';
import { LINES, SYNC_SCHEMA, syncLines, type OnRun, type SyncInput } from './sync.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** A hook of the server sets `caller`. */
    caller: Caller;
  }
  interface FastifyContextConfig {
    readonly scopes?: readonly Scope[];
  }
}

export interface Serving extends ReadDeps, Accounts {
  readonly onRun: OnRun;
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

export async function addRoutes(server: FastifyInstance, extensions: readonly Extension[], serving: Serving) {
  server.setValidatorCompiler(validatorCompiler);
  server.setSerializerCompiler(serializerCompiler);
  for (const [id, asked] of extensions.flatMap(({ operations = {} }) => Object.entries(operations))) {
    const { method, url, scopes } = asked;
    const add = (described: Omit<Operation, 'run'>, handler: Handler) =>
      server.route({ method, url, config: { scopes }, schema: schemaOf(id, asked, described), handler });
    if ('read' in asked) {
      const operation = await asked.read();
      add(operation, readerOf(operation, serving));
    } else {
      const operation = await asked.load();
      add(operation, runnerOf(operation, serving));
    }
  }
  server.route({
    ...SYNC,
    config: { scopes: SYNC.scopes },
    schema: SYNC_SCHEMA,
    async handler({ query }, reply) {
      const { stopping, onRun } = serving;
      const { account, scope, timeoutMs } = query as SyncInput & { account: string };
      const signal = signalFor(reply, stopping, timeoutMs);
      const used = await inUse(serving, account);
      if (used === undefined) return await answer(reply, await notOwner(serving, account));
      return await reply.type(LINES).send(Readable.from(syncLines(used, scope, signal, onRun)));
    },
  });
}

function readerOf(operation: ReadOperation, serving: Serving): Handler {
  let streams: ReturnType<NonNullable<ReadOperation['streams']>> | undefined;
  return async ({ params, query, headers, raw }, reply) => {
    const input = Object.assign({}, query, params) as { account: string };
    if (operation.streams === undefined || raw.headers.accept?.includes('text/event-stream') !== true)
      return await answer(reply, await operation.run(serving, input));
    streams ??= operation.streams(serving);
    const begin = await streams.open(input, textOf(headers['last-event-id']));
    if (typeof begin !== 'function') return await answer(reply.header('connection', 'close'), begin);
    void reply.hijack();
    begin(reply.raw);
    return reply;
  };
}

function runnerOf(operation: Operation, serving: Serving): Handler {
  return async ({ params, query, body, headers, caller }, reply) => {
    const { stopping, onRun } = serving;
    const signal = signalFor(reply, stopping, LONGEST_WAIT_MS);
    // Fastify validates a body only if the operation describes it, so no other body is used.
    const { account, ...fields } = query as { account: string };
    const input = Object.assign({}, fields, operation.body && body, params);
    const idempotencyKey = textOf(headers['idempotency-key']);
    const run = async (): Promise<Result> => {
      using used = await inUse(serving, account);
      return used === undefined
        ? await notOwner(serving, account)
        : await operation.run({ ...used.app, caller, idempotencyKey }, input, signal);
    };
    const running = run();
    onRun(running);
    return await answer(reply, await running);
  };
}

const textOf = (header: string | readonly string[] | undefined) => (typeof header === 'string' ? header : undefined);

/** Returns undefined if this process does not drive the account or is stopping. */
async function inUse(serving: Serving, account: string): Promise<AccountInUse | undefined> {
  return serving.stopping.aborted ? undefined : await serving.use(account);
}

/** If the owner cannot be read from the database, the answer does not name the owner. */
async function notOwner(serving: Serving, account: string): Promise<Result> {
  return { ...NOT_OWNER_RESULT, owner: await serving.ownerUrl?.(account).catch(() => undefined) };
}

export async function answer(reply: FastifyReply, result: Result): Promise<FastifyReply> {
  const { httpStatus, retryAfterSeconds, body } = writeEnvelope(result);
  if (result.kind === 'ok' && result.isReplay) void reply.header('idempotent-replayed', 'true');
  if (retryAfterSeconds !== undefined) void reply.header('retry-after', retryAfterSeconds);
  return await reply
    .code(httpStatus)
    .type(result.kind === 'ok' ? 'application/json' : PROBLEM_TYPE)
    .send(body);
}

/** The signal aborts when the server stops, when the caller disconnects, or after `timeoutMs`. */
function signalFor(reply: FastifyReply, stopping: AbortSignal, timeoutMs: number): AbortSignal {
  const isClosed = new AbortController();
  reply.raw.once('close', () => isClosed.abort());
  return AbortSignal.any([stopping, isClosed.signal, deadline(timeoutMs)]);
}
