import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { COMPILED } from '../test/support/program.ts';
import { peakMemoryMib } from './process.ts';
import type { Round, SandboxMessage, SandboxReady, Took } from './round.ts';
import { endWithUs } from '../test/support/supervisor.ts';

/** The program is started with these, however it is started. */
const { NODE_FLAGS } = createRequire(import.meta.url)('../src/runtime.cjs') as { NODE_FLAGS: readonly string[] };
const PROGRAM = '../src/cli.ts';
const LOOK_AT_MEMORY_MS = 20;

interface StartOptions {
  readonly folder: string;
  readonly name: string;
  readonly environment?: Record<string, string>;
  /** For V8. */
  readonly flags?: readonly string[];
}

/** A process of the benchmark's own: it answers one message at a time. */
export interface Child<Message, Answer> extends AsyncDisposable {
  readonly pid: number;
  /** Sends a message and resolves with the answer. Rejects when the process ends instead. */
  ask(message: Message): Promise<Answer>;
}

/**
 * Starts a file of this project as a process, with the standard output in `<folder>/<name>.log`, and resolves with its
 * first message once it is ready.
 */
export async function startChild<Message extends object, Answer, Ready = unknown>(
  file: string,
  args: readonly string[],
  options: StartOptions,
): Promise<Child<Message, Answer> & { readonly ready: Ready }> {
  const child = forkFile(file, args, options);
  const exit = once(child, 'exit');
  const answer = async () => {
    const ended = exit.then(([code]) => {
      throw new Error(`${options.name} ended early (exit ${code})`);
    });
    const [message] = (await Promise.race([once(child, 'message'), ended])) as unknown[];
    return message;
  };
  const ready = (await answer()) as Ready;
  return {
    ready,
    pid: child.pid ?? 0,
    async ask(message) {
      const answered = answer();
      child.send(message);
      return (await answered) as Answer;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await exit;
    },
  };
}

/** Starts the sandbox exchange. */
export async function startSandboxChild(folder: string) {
  return await startChild<SandboxMessage, unknown, SandboxReady>('./sandbox.ts', [], { folder, name: 'sandbox' });
}

/** Starts the engine without its daemon, for rounds of work. */
export async function startEngine(
  folder: string,
  url: string,
  database: string,
  environment: Record<string, string> = {},
) {
  const options = { folder, name: 'engine', flags: NODE_FLAGS, environment };
  return await startChild<Round, Took>('./engine.ts', [url, database], options);
}

/** Starts the daemon as it is installed, and resolves once it is ready. */
export async function startDaemon(folder: string, environment: Record<string, string>) {
  return await startChild<never, never>(PROGRAM, ['run'], { folder, name: 'daemon', environment, flags: NODE_FLAGS });
}

/** Runs a command of the program to its end: how long it took, and the most memory it held. */
export async function runProgram(folder: string, args: readonly string[], environment: Record<string, string>) {
  const start = performance.now();
  const child = forkFile(PROGRAM, args, { folder, name: 'program', environment, flags: NODE_FLAGS });
  let peakMib = 0;
  while (child.exitCode === null && child.signalCode === null) {
    peakMib = Math.max(peakMib, peakMemoryMib(child.pid ?? 0) ?? 0);
    await delay(LOOK_AT_MEMORY_MS);
  }
  if (child.exitCode !== 0) throw new Error(`order-sync ${args.join(' ')} failed (exit ${child.exitCode})`);
  return { ms: performance.now() - start, peakMib };
}

/** The other side: says what is ready, then answers each message. */
export function serve<Message>(ready: unknown, answer: (message: Message) => unknown): void {
  const send = (message: unknown) => process.send?.(message);
  process.on('message', (message) => {
    void Promise.resolve(answer(message as Message)).then(send, (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    });
  });
  process.once('disconnect', () => process.exit(1));
  send(ready);
}

function forkFile(
  file: string,
  args: readonly string[],
  { folder, name, environment, flags = [] }: StartOptions,
): ChildProcess {
  const output = openSync(join(folder, `${name}.log`), 'a');
  const child = endWithUs(
    fork(fileURLToPath(new URL(file, import.meta.url)), args, {
      cwd: folder,
      execArgv: [...flags],
      // Settings of the person who measures must not reach what is measured.
      env: { ...COMPILED, ...environment },
      stdio: ['ignore', output, 'inherit', 'ipc'],
    }),
  );
  closeSync(output);
  return child;
}
