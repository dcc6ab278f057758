import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unprivileged } from '../../src/extensions/sandbox/cluster/machine.ts';
import type { Machine } from './network.ts';

/** The processes on a machine of a database. */
export type ProcessName = 'etcd' | 'patroni' | 'pgbouncer';

/** The processes of a machine. Each has a space of processes of its own: all that it has started ends with it at once. */
export class Processes {
  readonly #machine: Machine;
  readonly #folder: string;
  readonly #commands: ReadonlyMap<ProcessName, readonly string[]>;
  readonly #running = new Map<ProcessName, ChildProcess>();

  constructor(machine: Machine, folder: string, commands: ReadonlyMap<ProcessName, readonly string[]>) {
    this.#machine = machine;
    this.#folder = folder;
    this.#commands = commands;
  }

  get areAllRunning(): boolean {
    return this.#running.size === this.#commands.size;
  }

  has(name: ProcessName): boolean {
    return this.#running.has(name);
  }

  /** Starts one that does not run, in a folder that holds its log. */
  start(name: ProcessName): void {
    if (this.has(name)) return;
    const { uid = 0, gid = 0 } = unprivileged();
    const script = `exec >>"$1" 2>&1; shift; setpriv --reuid=${uid} --regid=${gid} --clear-groups "$@" & wait`;
    const space = ['unshare', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'];
    const log = join(this.#folder, `${name}.log`);
    const [program = '', ...prefix] = this.#machine.prefix;
    const args = [...prefix, ...space, 'sh', '-c', script, 'sh', log, ...(this.#commands.get(name) ?? [])];
    const env = { PATH: process.env['PATH'], HOME: this.#folder, LC_ALL: 'C' };
    const child = spawn(program, args, { cwd: this.#folder, stdio: 'ignore', env });
    this.#running.set(name, child);
    child.once('exit', () => {
      if (this.#running.get(name) === child) this.#running.delete(name);
    });
  }

  startAll(): void {
    for (const name of this.#commands.keys()) this.start(name);
  }

  async kill(name: ProcessName): Promise<void> {
    const child = this.#running.get(name);
    if (child === undefined) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  async killAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((name) => this.kill(name)));
  }

  /** Sends a signal to the process alone: what it has started continues. */
  signal(name: ProcessName, signal: 'SIGSTOP' | 'SIGCONT'): void {
    const [init] = childrenOf(this.#running.get(name)?.pid, 'sh');
    for (const pid of childrenOf(init, name)) process.kill(pid, signal);
  }
}

/** Makes a folder of PostgreSQL's programs that leads to those in `bin`. The server has this environment. */
export function programsWith(environment: Readonly<Record<string, string>>, bin: string, folder: string): string {
  mkdirSync(folder);
  for (const program of readdirSync(bin)) {
    if (program !== 'postgres') symlinkSync(join(bin, program), join(folder, program));
  }
  const words = Object.entries(environment).map(([name, value]) => `${name}='${value}'`);
  const script = `#!/bin/sh\nexec env ${words.join(' ')} ${join(bin, 'postgres')} "$@"\n`;
  writeFileSync(join(folder, 'postgres'), script, { mode: 0o755 });
  return folder;
}

/** Returns the processes of this name that a process has started, or looks after. */
function childrenOf(pid: number | undefined, name: string): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
  return children.filter((child) => readFileSync(`/proc/${child}/comm`, 'utf8').trim() === name);
}
