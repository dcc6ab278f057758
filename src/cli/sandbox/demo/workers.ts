import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Daemons of the demonstration, each a process of its own. */
export class Workers implements AsyncDisposable {
  readonly #folder: string;
  readonly #settingsFile: string;
  readonly #processes: ChildProcess[] = [];

  constructor({ folder, settingsFile }: { readonly folder: string; readonly settingsFile: string }) {
    this.#folder = folder;
    this.#settingsFile = settingsFile;
  }

  /** Starts so many, and gives their process ids once all are ready. */
  async start(count: number): Promise<readonly (number | undefined)[]> {
    const started = Array.from({ length: count }, () => this.#fork());
    this.#processes.push(...started);
    await Promise.all(started.map((daemon) => Promise.race([once(daemon, 'message'), failedStart(daemon)])));
    return started.map(({ pid }) => pid);
  }

  /** Ends all of them in order and starts one. */
  async restart(): Promise<void> {
    await this[Symbol.asyncDispose]();
    await this.start(1);
  }

  /** Ends the first as a crash does; gives its process id. */
  async kill(): Promise<number | undefined> {
    const killed = this.#processes.shift();
    if (killed !== undefined) await end(killed, 'SIGKILL');
    return killed?.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#processes.splice(0).map((daemon) => end(daemon, 'SIGTERM')));
  }

  /** The settings of the person who tries the demonstration do not reach it: neither their file nor their variables. */
  #fork(): ChildProcess {
    return fork(fileURLToPath(new URL('../../../cli.ts', import.meta.url)), ['run'], {
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ORDER_SYNC_CONFIG: this.#settingsFile },
    });
  }
}

async function failedStart(daemon: ChildProcess): Promise<never> {
  const [code] = (await once(daemon, 'exit')) as [number | null];
  throw new Error(`the daemon ended before it was ready (exit ${code})`);
}

async function end(daemon: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = once(daemon, 'exit');
  daemon.kill(signal);
  await exited;
}
