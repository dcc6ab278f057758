import fs from 'node:fs';
import { vi } from 'vitest';
import { EXIT, explainError } from '../../src/cli/shared/exit.ts';
import { createProgram } from '../../src/cli/program.ts';
import { EXTENSIONS } from '../../src/extensions.ts';

/** The result of a command line. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder, settings and environment of a command line. */
export interface ProgramOptions {
  /** This process's own unless given. */
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Standard output is a terminal of this width, and of this height, which is endless unless given. */
  readonly columns?: number;
  readonly rows?: number;
}

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
let last: Promise<unknown> = Promise.resolve();

/**
 * Runs a command line within this process, with these settings and no others: a process of its own takes half a second
 * of CPU more. Each has the process to itself, so command lines of one moment run one after the other.
 */
export function runProgram(args: readonly string[], options: ProgramOptions = {}): Promise<CommandResult> {
  const result = last.then(async () => {
    using written = captured();
    const leave = enter(options);
    try {
      const code = await endOf(args, written);
      return { code, stdout: written.stdout, stderr: written.stderr };
    } finally {
      leave();
    }
  });
  last = result.catch(() => {});
  return result;
}

/** The exit code; does with an error what the process would do. */
async function endOf(args: readonly string[], written: Written): Promise<number> {
  try {
    const program = await createProgram(args, EXTENSIONS);
    await program.parseAsync([...args], { from: 'user' });
    return Number(process.exitCode ?? EXIT.ok);
  } catch (error) {
    const { code, message } = explainError(error);
    if (message !== '') written.stderr += `order-sync: ${message}\n`;
    return code;
  }
}

interface Written extends Disposable {
  stdout: string;
  stderr: string;
}

/** Keeps what is written to the standard streams, and by the log to their descriptors. */
function captured(): Written {
  const written = { stdout: '', stderr: '' };
  const streams = ['stdout', 'stderr'] as const;
  const spies = streams.map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text: unknown, ...more: unknown[]) => {
      written[name] += String(text);
      const callback = more.at(-1);
      if (typeof callback === 'function') process.nextTick(callback);
      return true;
    }),
  );
  const { writeSync } = fs;
  const byDescriptor = vi.spyOn(fs, 'writeSync').mockImplementation((file, text, ...more) => {
    const name = streams[file - 1];
    if (name === undefined) return writeSync(file, text, ...more);
    written[name] += text;
    return Buffer.byteLength(text);
  });
  return Object.assign(written, {
    [Symbol.dispose]: () => [...spies, byDescriptor].forEach((spy) => spy.mockRestore()),
  });
}

/** Sets the folder and settings of the command. The returned function takes away its traces in this process. */
function enter({ cwd, environment = {}, columns, rows }: ProgramOptions): () => void {
  const [folder, { exitCode }] = [process.cwd(), process];
  const terminal = { isTTY: process.stdout.isTTY, columns: process.stdout.columns, rows: process.stdout.rows };
  if (columns !== undefined) Object.assign(process.stdout, { isTTY: true, columns, rows: rows ?? Infinity });
  const listeners = SIGNALS.map((signal) => new Set(process.listeners(signal)));
  if (cwd !== undefined) process.chdir(cwd);
  process.exitCode = undefined;
  for (const name of Object.keys(process.env)) if (name.startsWith('ORDER_SYNC_')) vi.stubEnv(name, undefined);
  vi.stubEnv('ORDER_SYNC_CONFIG', '/dev/null');
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  return () => {
    process.chdir(folder);
    process.exitCode = exitCode;
    Object.assign(process.stdout, terminal);
    vi.unstubAllEnvs();
    for (const [index, signal] of SIGNALS.entries()) {
      for (const listener of process.listeners(signal)) {
        if (listeners[index]?.has(listener) === false) process.off(signal, listener);
      }
    }
  };
}
