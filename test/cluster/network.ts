import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterMachine, Ports } from '../../src/extensions/sandbox/cluster/node.ts';
import { findProgram } from '../../src/extensions/sandbox/cluster/machine.ts';

export const PORTS: Ports = { postgres: 5432, patroni: 8008, clients: 2379, peers: 2380 };

/** A machine: a network namespace with an address. */
export interface Machine extends ClusterMachine {
  /** The words with which a command that runs on it begins. */
  readonly prefix: readonly string[];
}

/** All packets from one machine to another, or those alone that belong to connections to a server of PostgreSQL. */
type Packets = 'every' | 'of_postgres';

/** Machines on a bridge. They and all that runs on them end with this process, however that ends. */
export interface Network extends AsyncDisposable {
  /** In memory, for the files of the machines. */
  readonly folder: string;
  /** This process as the machines reach it. */
  readonly address: string;
  machine(name: string): Machine;
  /** From now on no packet comes from one machine to another. The harness is called `harness`. */
  cut(from: string, to: string, packets?: Packets): void;
  /** Every packet comes through again, but to machines that are unplugged. */
  heal(): void;
  unplug(name: string): void;
  plug(name: string): void;
  /** Has new connections of a machine to its own loopback at this port come to another address. */
  lead(name: string, port: number, address: string): void;
}

const MEMORY = '/dev/shm';
const FOLDER = 'order-sync-cluster-';
const NETWORKS = 250;
const HARNESS = 'harness';

/** Ends everything of the network with this number. */
const SWEEP = `number=$1 folder=$2
  for space in $(ip netns list | cut -d' ' -f1 | grep "^osc$number-"); do
    while pids=$(ip netns pids "$space") && test -n "$pids"; do kill -s KILL $pids 2>/dev/null; sleep 0.05; done
    ip netns del "$space"
  done
  ip link del "osc$number" 2>/dev/null
  for disk in "$folder"/*/disk; do umount -l "$disk" 2>/dev/null; done
  rm -rf "$folder"`;
/** Reads until the process that started it is gone, or lets go of it. */
const KEEPER = `cat >/dev/null; ${SWEEP}`;

const CUTS = `table bridge cuts {
  set every { type ipv4_addr . ipv4_addr; }
  set of_postgres { type ipv4_addr . ipv4_addr; }
  chain forward {
    type filter hook forward priority 0;
    ip saddr . ip daddr @every drop
    ip saddr . ip daddr @of_postgres tcp sport 5432 drop
    ip saddr . ip daddr @of_postgres tcp dport 5432 drop
  }
}`;

/** Says why this process can make no network; undefined if it can. */
export function whyNoNetwork(): string | undefined {
  const missing = ['ip', 'nft', 'unshare', 'setpriv'].find((name) => findProgram(name) === undefined);
  if (missing !== undefined) return `${missing} is not installed`;
  const name = `osc-try-${process.pid}`;
  try {
    run('ip', 'netns', 'add', name);
    inSpace(name, 'nft', 'add table bridge cuts');
    return undefined;
  } catch {
    return 'this process may make no network namespaces';
  } finally {
    try {
      run('ip', 'netns', 'del', name);
    } catch {
      // It was not made.
    }
  }
}

/** Makes a network of these machines. It sweeps away the rest of a harness that was killed first. */
export async function openNetwork(names: readonly string[]): Promise<Network> {
  await sweepLeftOvers();
  const { number, folder } = claim();
  const keeper = spawn('sh', ['-c', KEEPER, 'sh', String(number), folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  keeper.unref();
  const bridge = `osc${number}-bridge`;
  const addressOf = (place: number) => `10.213.${number}.${place + 1}`;
  run('ip', 'netns', 'add', bridge);
  inSpace(bridge, 'ip', 'link add bridge type bridge forward_delay 0');
  inSpace(bridge, 'ip', 'link set bridge up');
  execFileSync('ip', ['netns', 'exec', bridge, 'nft', '-f', '-'], { input: CUTS });
  const machines = new Map<string, Machine>();
  for (const [index, name] of names.entries()) {
    const machine = {
      name,
      address: addressOf(index + 1),
      ports: PORTS,
      prefix: ['ip', 'netns', 'exec', `osc${number}-${name}`],
    };
    const space = `osc${number}-${name}`;
    run('ip', 'netns', 'add', space);
    run('ip', ...`link add net0 netns ${space} type veth peer name to-${name} netns ${bridge}`.split(' '));
    inSpace(bridge, 'ip', `link set to-${name} master bridge up`);
    inSpace(space, 'ip', `address add ${machine.address}/24 dev net0`);
    for (const link of ['lo', 'net0']) inSpace(space, 'ip', `link set ${link} up`);
    machines.set(name, machine);
  }
  run('ip', ...`link add osc${number} type veth peer name to-${HARNESS} netns ${bridge}`.split(' '));
  inSpace(bridge, 'ip', `link set to-${HARNESS} master bridge up`);
  run('ip', ...`address add ${addressOf(0)}/24 dev osc${number}`.split(' '));
  run('ip', ...`link set osc${number} up`.split(' '));

  const addressNamed = (name: string) => (name === HARNESS ? addressOf(0) : machine(name).address);
  const machine = (name: string): Machine => {
    const found = machines.get(name);
    if (found === undefined) throw new Error(`no machine is called ${name}`);
    return found;
  };
  return {
    folder,
    address: addressOf(0),
    machine,
    cut(from, to, packets = 'every') {
      const pair = `{ ${addressNamed(from)} . ${addressNamed(to)} }`;
      inSpace(bridge, 'nft', `add element bridge cuts ${packets} ${pair}`);
    },
    heal() {
      for (const packets of ['every', 'of_postgres']) inSpace(bridge, 'nft', `flush set bridge cuts ${packets}`);
    },
    unplug: (name) => inSpace(bridge, 'ip', `link set to-${name} down`),
    plug: (name) => inSpace(bridge, 'ip', `link set to-${name} up`),
    lead: (name, port, address) => lead(`osc${number}-${name}`, port, address),
    async [Symbol.asyncDispose]() {
      const ended = once(keeper, 'exit');
      keeper.ref();
      keeper.stdin?.end();
      await ended;
    },
  };
}

function lead(space: string, port: number, address: string): void {
  const table = `ip port${port}`;
  const rules = `table ${table}
  delete table ${table}
  table ${table} {
    chain out {
      type nat hook output priority -100;
      ip daddr 127.0.0.1 tcp dport ${port} dnat to ${address}:${port}
    }
    chain from {
      type nat hook postrouting priority 100;
      ip saddr 127.0.0.1 ip daddr ${address} masquerade
    }
  }`;
  const allow = 'echo 1 >/proc/sys/net/ipv4/conf/all/route_localnet';
  run('ip', 'netns', 'exec', space, 'sh', '-c', allow);
  execFileSync('ip', ['netns', 'exec', space, 'nft', '-f', '-'], { input: rules });
}

/** Takes the first number that no network has. */
function claim(): { readonly number: number; readonly folder: string } {
  for (let number = 1; number <= NETWORKS; number += 1) {
    const folder = join(MEMORY, `${FOLDER}${number}`);
    try {
      mkdirSync(folder, { mode: 0o755 });
    } catch {
      continue;
    }
    writeFileSync(join(folder, 'pid'), String(process.pid));
    return { number, folder };
  }
  throw new Error(`${NETWORKS} clusters have left folders in ${MEMORY}`);
}

async function sweepLeftOvers(): Promise<void> {
  for (const name of readdirSync(MEMORY)) {
    if (!name.startsWith(FOLDER) || isAlive(join(MEMORY, name, 'pid'))) continue;
    const args = ['-c', SWEEP, 'sh', name.slice(FOLDER.length), join(MEMORY, name)];
    await once(spawn('sh', args, { stdio: 'ignore' }), 'exit');
  }
}

/** A file that cannot be read yet is that of a network that is being made. */
function isAlive(pidFile: string): boolean {
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8')), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function inSpace(space: string, program: string, words: string): void {
  run('ip', 'netns', 'exec', space, program, ...words.split(' '));
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}
