import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { CLI, COMPILED, FLAGS } from './program.ts';
import { endWithUs } from './supervisor.ts';

/** A command that has ended, with what it said. */
export interface Finished {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder, settings and environment of a command. */
export interface CommandOptions {
  readonly cwd: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The text that it reads from standard input; nothing unless given. */
  readonly input?: string;
  /** A file descriptor in place of a pipe for its standard output. */
  readonly stdout?: number;
  readonly stderr?: number;
}

/** Starts a command as a real process, with no settings but those given. */
export function startCommand(
  args: readonly string[],
  options: CommandOptions,
): { process: ChildProcess; finished: Promise<Finished> } {
  const stdio: StdioOptions = ['pipe', options.stdout ?? 'pipe', options.stderr ?? 'pipe'];
  const env = { ...COMPILED, ORDER_SYNC_CONFIG: '/dev/null', ...options.environment };
  const child = endWithUs(spawn(process.execPath, [...FLAGS, CLI, ...args], { cwd: options.cwd, stdio, env }));
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A command that reads nothing may be gone before it is given its input.
  child.stdin?.on('error', () => {}).end(options.input ?? '');
  const finished = once(child, 'close').then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as string | null,
    stdout,
    stderr,
  }));
  return { process: child, finished };
}

/** Runs a command to its end. */
export async function runCommand(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return await startCommand(args, options).finished;
}
