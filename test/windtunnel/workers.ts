import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { CLI, COMPILED, FLAGS } from '../support/program.ts';

/** A process that drives accounts, with the end of what it has said. */
export interface Worker {
  readonly process: ChildProcess;
  said: string;
}

const MOST_SAID = 20_000;

/** Real processes of the program with one file of settings. */
export class Workers implements AsyncDisposable {
  readonly #folder: string;
  readonly #settingsFile: string;
  readonly #all = new Set<Worker>();

  constructor(folder: string, settingsFile: string) {
    this.#folder = folder;
    this.#settingsFile = settingsFile;
  }

  get alive(): readonly Worker[] {
    return [...this.#all];
  }

  /** Starts one; resolves when it is ready. */
  async start(): Promise<Worker> {
    const child = fork(CLI, ['run'], {
      cwd: this.#folder,
      execArgv: FLAGS,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
      env: { ...COMPILED, ORDER_SYNC_CONFIG: this.#settingsFile },
    });
    const worker: Worker = { process: child, said: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (data) => (worker.said = (worker.said + String(data)).slice(-MOST_SAID)));
    }
    this.#all.add(worker);
    child.once('exit', () => this.#all.delete(worker));
    await Promise.race([once(child, 'message'), once(child, 'exit')]);
    return worker;
  }

  /** Ends it at once, as a crash does. */
  async kill(worker: Worker): Promise<void> {
    const exited = once(worker.process, 'exit');
    worker.process.kill('SIGKILL');
    await exited;
  }

  /** Has all of them end in order; gives their exit codes. */
  async stop(): Promise<readonly (number | null)[]> {
    return await Promise.all(
      this.alive.map(async ({ process }) => {
        const exited = once(process, 'exit');
        process.kill('SIGTERM');
        const [code] = (await exited) as [number | null];
        return code;
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.alive.map((worker) => this.kill(worker)));
  }
}
