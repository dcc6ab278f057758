import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { supervise } from './supervisor.ts';
import { tool } from './tools.ts';

const require = createRequire(import.meta.url);
const PM2 = tool('pm2/bin/pm2');

/** The facts that pm2 tells about a process, or about itself. */
export interface Pm2Event {
  /** `log:out`, `log:err`, `log:PM2`, `process:event` or `process:msg`. */
  readonly topic: string;
  /** Name of the process; `PM2` for itself. */
  readonly name: string;
  /** The event of a `process:event`, such as `exit`. */
  readonly event?: string;
  /** Text of a log, or the message of a process. */
  readonly text: string;
}

/** A process as `pm2 jlist` shows it. */
export interface Pm2Process {
  readonly name: string;
  readonly pid: number;
  readonly pm2_env: { readonly status: string; readonly exit_code?: number; readonly restart_time: number };
}

/** A pm2 of its own, in a temporary folder. */
export interface Pm2 extends AsyncDisposable {
  readonly home: string;
  /** Everything it has told so far. */
  readonly events: readonly Pm2Event[];
  /** Runs `pm2 …`; resolves with its output, rejects when it fails. */
  run(args: string[], environment?: Record<string, string>): Promise<string>;
  list(): Promise<Pm2Process[]>;
  /** Resolves with the next event for which `matches` holds. */
  next(matches: (event: Pm2Event) => boolean): Promise<Pm2Event>;
}

interface Bus {
  connect(path: string): { once(event: string, listener: () => void): void };
  on(topic: string, listener: (topic: string, message: BusMessage) => void): void;
  close(): void;
}

interface BusMessage {
  readonly process?: { readonly name: string };
  readonly event?: string;
  readonly data?: unknown;
  readonly raw?: unknown;
}

/** Starts a pm2 that is told nothing of this process's environment. */
export async function startPm2(): Promise<Pm2> {
  const home = mkdtempSync(join(tmpdir(), 'order-sync-pm2-'));
  const own = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    PM2_HOME: home,
    NO_COLOR: '1',
    // Neither a look for new versions nor an agent.
    PM2_DISCRETE_MODE: 'true',
    PM2_NO_INTERACTION: 'true',
  };
  const run = async (args: string[], environment: Record<string, string> = {}) => {
    const child = spawn(process.execPath, [PM2, ...args], { cwd: home, env: { ...environment, ...own } });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`pm2 ${args.join(' ')} ended with ${code}: ${output}`);
    return output;
  };
  const ended = supervise(home);
  await run(['ping']);
  const god = Number(readFileSync(join(home, 'pm2.pid'), 'utf8'));
  const events: Pm2Event[] = [];
  const watchers = new Set<(event: Pm2Event) => void>();
  const bus = await connectBus(join(home, 'pub.sock'), (event) => {
    events.push(event);
    for (const watcher of watchers) watcher(event);
  });
  return {
    home,
    events,
    run,
    list: async () => JSON.parse(await run(['jlist'])) as Pm2Process[],
    next: (matches) =>
      new Promise((resolve) => {
        const watcher = (event: Pm2Event) => {
          if (!matches(event)) return;
          watchers.delete(watcher);
          resolve(event);
        };
        watchers.add(watcher);
      }),
    async [Symbol.asyncDispose]() {
      try {
        await run(['kill']);
      } finally {
        bus.close();
        endProcess(god);
        // Empty, unless `pm2 kill` failed.
        const pids = join(home, 'pids');
        for (const file of readdirSync(pids)) endProcess(Number(readFileSync(join(pids, file), 'utf8')));
        ended();
        rmSync(home, { recursive: true, force: true });
      }
    },
  };
}

async function connectBus(path: string, listener: (event: Pm2Event) => void): Promise<Bus> {
  const axon = require(tool('pm2/modules/pm2-axon')) as { socket(kind: 'sub-emitter'): Bus };
  const bus = axon.socket('sub-emitter');
  bus.on('*', (topic, { process: about, event, data, raw }) => {
    listener({
      topic,
      name: about?.name ?? '',
      text: typeof data === 'string' ? data : JSON.stringify(raw ?? ''),
      ...(event === undefined ? {} : { event }),
    });
  });
  await new Promise<void>((resolve) => bus.connect(path).once('connect', resolve));
  return bus;
}

/** Ends the process if `pm2 kill` has not. */
function endProcess(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
