import { fork } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A process of the benchmark's own: it answers one message at a time. */
export interface Child extends AsyncDisposable {
  readonly pid: number;
  /** Sends a message and resolves with the answer. Rejects when the process ends instead. */
  ask<Answer>(message: object): Promise<Answer>;
}

/**
 * Starts a file of this project as a process, with the standard output in `<folder>/<name>.log`, and resolves with its
 * first message once it is ready.
 */
export async function startChild<Ready>(
  file: string,
  args: readonly string[],
  options: { folder: string; name: string; environment?: Record<string, string> },
): Promise<Child & { readonly ready: Ready }> {
  const output = openSync(join(options.folder, `${options.name}.log`), 'a');
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), args, {
    cwd: options.folder,
    execArgv: ['--import', import.meta.resolve('tsx')],
    // Settings of the person who measures must not reach what is measured.
    env: { ORDER_SYNC_CONFIG: '/dev/null', ...options.environment },
    stdio: ['ignore', output, 'inherit', 'ipc'],
  });
  closeSync(output);
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
    async ask<Answer>(message: object) {
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

/** The other side: says what is ready, then answers each message. */
export function serve<Message>(ready: unknown, answer: (message: Message) => unknown): void {
  const send = (message: unknown) => process.send?.(message);
  process.on('message', (message) => {
    void Promise.resolve(answer(message as Message)).then(send, (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      process.exit(1);
    });
  });
  send(ready);
}
