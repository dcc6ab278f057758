import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../support/supervisor.ts';

const BIN = fileURLToPath(new URL('../../src/bin.mjs', import.meta.url));
const MOST_SAID = 20_000;
/** Every secret has it in it, and nothing else does. */
const CANARY = 'canary';
const READY = '"order-sync is ready"';
/** Grace periods of requests, deliveries and connections, and a slow machine. */
const STOPS_WITHIN_MS = 120_000;
/** Ends by itself that are no bug: the exchange out of reach, the disk, another owner, a key that is never taken. */
const GOOD_ENDS: readonly (number | null)[] = [0, 69, 74, 75, 77];

/** A process of the program, with the end of what it has said. */
export interface Worker {
  readonly process: ChildProcess;
  said: string;
  /** Resolves when it drives accounts, or has ended. */
  readonly ready: Promise<void>;
  readonly ended: Promise<number | null>;
}

interface WorkersOptions {
  readonly folder: string;
  readonly settingsFile: string;
  readonly fail: (what: string) => void;
  /** The most memory that each process had at a time. */
  readonly tookMemory?: (bytes: number) => void;
  /** The words with which the commands of a person begin. */
  readonly prefix?: readonly string[] | undefined;
}

/** Real processes of the program with one file of settings: what each says is read for secrets, and how it ends is seen. */
export class Workers implements AsyncDisposable {
  readonly #options: WorkersOptions;
  readonly #all = new Set<Worker>();
  /** How many were killed. */
  kills = 0;
  /** The file that starts the program from now on, if it is another version. */
  program: string | undefined;
  /** More exit codes of a daemon that are no bug. */
  readonly goodEnds = new Set<number | null>(GOOD_ENDS);

  constructor(options: WorkersOptions) {
    this.#options = options;
  }

  get alive(): readonly Worker[] {
    return [...this.#all];
  }

  /** Starts one; resolves when it is ready. */
  async start(environment: Readonly<Record<string, string>> = {}): Promise<Worker> {
    const worker = this.begin(['run'], environment);
    this.#all.add(worker);
    await worker.ready;
    return worker;
  }

  /** Starts one that may be killed before it is ready. */
  startEarly(environment: Readonly<Record<string, string>> = {}, prefix?: readonly string[]): Worker {
    const worker = this.begin(['run'], environment, prefix);
    this.#all.add(worker);
    return worker;
  }

  /** Runs a command to its end; returns its exit code. */
  async run(args: readonly string[]): Promise<number | null> {
    return await this.begin(args).ended;
  }

  /** Begins a command, which may have a prefix of its own. */
  begin(
    args: readonly string[],
    environment: Readonly<Record<string, string>> = {},
    prefix = this.#options.prefix ?? [],
  ): Worker {
    const { folder, settingsFile, fail } = this.#options;
    const own = { PATH: process.env['PATH'], HOME: folder, USER: 'tunnel', ORDER_SYNC_CONFIG: settingsFile };
    const [program = '', ...words] = [...prefix, process.execPath, this.program ?? BIN, ...args];
    const child = endWithUs(
      spawn(program, words, {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...own, ...environment },
      }),
    );
    const isReady = Promise.withResolvers<void>();
    const ended = once(child, 'exit').then(([code, signal]) => {
      isReady.resolve();
      this.#all.delete(worker);
      const isGood = signal === 'SIGKILL' || (args[0] === 'run' ? this.goodEnds.has(code as number) : code !== 70);
      if (!isGood) fail(`order-sync ${args.join(' ')} ended with ${code ?? signal}: ${worker.said.slice(-1_000)}`);
      return code as number | null;
    });
    const worker: Worker = { process: child, said: '', ready: isReady.promise, ended };
    for (const stream of [child.stdout, child.stderr]) {
      let end = '';
      stream.setEncoding('utf8').on('data', (data: string) => {
        end += data;
        if (end.includes(CANARY))
          fail(`a secret was said: ${end.slice(Math.max(0, end.indexOf(CANARY) - 200)).slice(0, 300)}`);
        if (end.includes(READY)) isReady.resolve();
        end = end.slice(-READY.length);
        worker.said = (worker.said + data).slice(-MOST_SAID);
      });
    }
    return worker;
  }

  /** Ends it at once, as a crash does. */
  async kill(worker: Worker): Promise<void> {
    this.#options.tookMemory?.(mostMemoryOf(worker.process.pid));
    this.kills += 1;
    worker.process.kill('SIGKILL');
    await worker.ended;
  }

  /** Has all of them end in order. */
  async stop(): Promise<void> {
    await Promise.all(this.alive.map((worker) => this.stopOne(worker)));
  }

  /** Has one end in order. */
  async stopOne(worker: Worker): Promise<void> {
    this.#options.tookMemory?.(mostMemoryOf(worker.process.pid));
    worker.process.kill('SIGTERM');
    const isOver = new AbortController();
    const late = wait(STOPS_WITHIN_MS, 'late' as const, { signal: isOver.signal }).catch(() => null);
    const code = await Promise.race([worker.ended, late]);
    isOver.abort();
    if (code === 0) return;
    this.#options.fail(`a process that was told to stop ended with ${code}: ${worker.said.slice(-1_000)}`);
    if (code === 'late') await this.kill(worker);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.alive.map((worker) => this.kill(worker)));
  }
}

/** The most bytes of memory that a process has had at a time. */
function mostMemoryOf(pid: number | undefined): number {
  try {
    const [, kib = '0'] = /^VmHWM:\s*(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kib) * 1_024;
  } catch {
    // It has ended, or this system does not say.
    return 0;
  }
}
