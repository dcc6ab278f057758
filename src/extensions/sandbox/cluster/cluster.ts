import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deadline } from '../../../base/clock.ts';
import { shellWord } from '../../../base/text.ts';
import { CommandError, EXIT } from '../../../cli/shared/exit.ts';
import { processEnvironment } from '../../../settings/config.ts';
import type { Stage } from '../demo/stage.ts';
import { etcdCommand, foldersOf, patroniYaml, type ClusterMachine, type ClusterPlan } from './node.ts';
import { findPostgres, findProgram, freePorts, unprivileged } from './machine.ts';

const NAMES = ['db1', 'db2', 'db3'];
const READY_WITHIN_MS = 120_000;
const LOOK_MS = 100;
const ANSWERS_WITHIN_MS = 1_000;
const PARAMETERS = {
  shared_buffers: '32MB',
  max_wal_size: '128MB',
  // The other types use shared memory of the system, which would outlive a killed server.
  dynamic_shared_memory_type: 'mmap',
};

type Member = Readonly<{ name: string; role: string; state: string }>;

export type Cluster = Awaited<ReturnType<typeof startCluster>>;

type ClusterOptions = Pick<Stage, 'clock' | 'signal' | 'isKept'> & { readonly say: (text: string) => void };

/** Returns the folder of PostgreSQL's programs. Throws `CommandError` if a program that a cluster needs is missing. */
function clusterPrograms(): string {
  const bin = findPostgres();
  const missing = ['patroni', 'etcd'].find((name) => findProgram(name) === undefined);
  if (bin !== undefined && missing === undefined) return bin;
  const what = `--cluster needs patroni, etcd and PostgreSQL, and ${missing ?? 'PostgreSQL'} is not there`;
  const advice = 'install all three (Debian: apt install patroni etcd-server postgresql)';
  throw new CommandError(EXIT.config, `${what}: ${advice}`);
}

/**
 * Starts three servers of PostgreSQL on ports of this machine, one of them a synchronous standby. They end with this
 * process. Resolves when both standbys replicate. Rejects with `CommandError` after 2 min.
 */
export async function startCluster({ clock, signal, isKept, say }: ClusterOptions) {
  const plan = await planOf(clusterPrograms());
  say('Three servers of PostgreSQL start under Patroni and etcd.');
  await using undo = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'order-sync-demo-cluster-'));
  // The removal is retried, because the last processes of a killed server may still write.
  if (!isKept) undo.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  own(folder);
  const machines = new Map(plan.machines.map((machine) => [machine.name, startMachine(plan, machine, folder)]));
  const kill = async (name: string) => {
    const process = machines.get(name);
    machines.delete(name);
    if (process === undefined || process.exitCode !== null || process.signalCode !== null) return;
    const ended = once(process, 'exit');
    process.stdin.end();
    await ended;
  };
  undo.defer(async () => void (await Promise.all(NAMES.map(kill))));
  const until = async <Found>(find: (members: readonly Member[]) => Found | undefined): Promise<Found> => {
    for (const late = clock.monotonic() + READY_WITHIN_MS; clock.monotonic() < late;) {
      const alive = plan.machines.filter(({ name }) => machines.has(name));
      const seen = await Promise.all(alive.map((machine) => membersSeenBy(machine).catch(() => [])));
      const found = find(seen.find((members) => members.length > 0) ?? []);
      if (found !== undefined) return found;
      await clock.sleep(LOOK_MS, signal);
    }
    const advice = isKept ? `see ${folder}/*/log` : 'with --keep its logs stay';
    throw new CommandError(EXIT.unavailable, `the cluster was not ready within 2 min; ${advice}`);
  };
  await until((members) => (isReady(members) ? members : undefined));
  const disposal = undo.move();
  const hosts = plan.machines.map(({ address, ports }) => `${address}:${ports.postgres}`);
  const url = `postgres://postgres@${hosts.join()}/postgres`;
  return {
    folder,
    settings: { url, password: plan.password, synchronousStandbys: 1 },
    /** Waits until a server takes writes, and returns its name. Throws `CommandError` after 2 min. */
    primary: () => until((members) => members.find(({ name, role }) => role === 'leader' && machines.has(name))?.name),
    kill,
    [Symbol.asyncDispose]: () => disposal.disposeAsync(),
  };
}

async function planOf(bin: string): Promise<ClusterPlan> {
  const ports = await freePorts(NAMES.length * 4);
  const machines = NAMES.map((name, index) => {
    const [postgres = 0, patroni = 0, clients = 0, peers = 0] = ports.slice(index * 4);
    return { name, address: '127.0.0.1', ports: { postgres, patroni, clients, peers } };
  });
  return { machines, bin, replication: 'synchronous', password: randomUUID(), parameters: PARAMETERS };
}

function own(path: string): void {
  const { uid, gid } = unprivileged();
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

/** Starts a shell that runs the machine's processes in a group. The shell kills the group when its input ends. */
function startMachine(plan: ClusterPlan, machine: ClusterMachine, place: string) {
  const folder = join(place, machine.name);
  const { data, yaml } = foldersOf(folder);
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(yaml, patroniYaml(plan, machine, folder), { mode: 0o600 });
  for (const path of [folder, yaml]) own(path);
  const line = (words: readonly string[]) => words.map(shellWord).join(' ');
  // The loop restarts Patroni, because Patroni may end while etcd does not answer. PostgreSQL is not in the group, so
  // the script kills it by its process id, and removes the shared memory that a killed PostgreSQL leaves.
  const script = `exec >log 2>&1
    ${line(etcdCommand(plan, machine, folder))} &
    while :; do ${line(['patroni', yaml])}; sleep 1; done &
    cat >/dev/null
    pid=${shellWord(join(data, 'postmaster.pid'))}
    test -f "$pid" && kill -s KILL "$(sed -n 1p "$pid")" && ipcrm -m "$(sed -n '7s/.* //p' "$pid")"
    kill -s KILL 0`;
  const { PATH, HOME } = processEnvironment();
  // etcd 3.4 runs on 64-bit ARM only with this variable.
  const env = { PATH, HOME, LC_ALL: 'C', ...(process.arch === 'arm64' && { ETCD_UNSUPPORTED_ARCH: 'arm64' }) };
  const stdio = ['pipe', 'ignore', 'ignore'] as const;
  return spawn('sh', ['-c', script], { cwd: folder, env, stdio: [...stdio], detached: true, ...unprivileged() });
}

async function membersSeenBy({ address, ports }: ClusterMachine): Promise<readonly Member[]> {
  const answer = await fetch(`http://${address}:${ports.patroni}/cluster`, { signal: deadline(ANSWERS_WITHIN_MS) });
  return ((await answer.json()) as { readonly members?: readonly Member[] }).members ?? [];
}

function isReady(members: readonly Member[]): boolean {
  const roles = members.map(({ role }) => role);
  const areRunning = members.every(({ state }) => state === 'running' || state === 'streaming');
  return areRunning && members.length === NAMES.length && roles.includes('leader') && roles.includes('sync_standby');
}
