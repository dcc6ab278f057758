import { join } from 'node:path';
import { stringify } from 'yaml';

/** A machine of a cluster: a member of etcd, Patroni and PostgreSQL run on it. */
export interface ClusterMachine {
  readonly name: string;
  readonly address: string;
}

/** How Patroni replicates: `strict` lets no commit through without a synchronous standby. */
export type Replication = 'asynchronous' | 'synchronous' | 'strict';

/** A cluster of Patroni as its machines are told it. */
export interface ClusterPlan {
  readonly machines: readonly ClusterMachine[];
  /** The folder of PostgreSQL's programs. */
  readonly bin: string;
  readonly replication: Replication;
  /** Seconds that a leader is trusted without a renewal, between two looks of Patroni, and that it repeats a failed request. */
  readonly times: { readonly ttl: number; readonly loopWait: number; readonly retryTimeout: number };
  /** Passwords of the roles `postgres`, `replicator` and `rewinder`. */
  readonly passwords: Readonly<Record<'superuser' | 'replication' | 'rewind', string>>;
  /** Settings of PostgreSQL. */
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** The port of PostgreSQL on each machine. */
export const POSTGRES = 5432;
/** The port of Patroni's interface on each machine. */
export const PATRONI = 8008;
const ETCD_CLIENTS = 2379;
const ETCD_PEERS = 2380;

/** The folders of a machine, below its own one, which belongs to the user that the processes run as. */
export function foldersOf(folder: string): Readonly<Record<'etcd' | 'data' | 'socket' | 'yaml', string>> {
  return {
    etcd: join(folder, 'etcd'),
    data: join(folder, 'disk', 'data'),
    socket: folder,
    yaml: join(folder, 'patroni.yaml'),
  };
}

/** The command of a machine's member of etcd. */
export function etcdCommand({ machines }: ClusterPlan, { name, address }: ClusterMachine, folder: string): string[] {
  const peers = machines.map((one) => `${one.name}=http://${one.address}:${ETCD_PEERS}`);
  const [clients, own] = [`http://${address}:${ETCD_CLIENTS}`, `http://${address}:${ETCD_PEERS}`];
  const options = {
    name,
    'data-dir': foldersOf(folder).etcd,
    'listen-client-urls': clients,
    'advertise-client-urls': clients,
    'listen-peer-urls': own,
    'initial-advertise-peer-urls': own,
    'initial-cluster': peers.join(','),
    'log-level': 'error',
  };
  return ['etcd', ...Object.entries(options).flatMap(([option, value]) => [`--${option}`, value])];
}

/** The command of a machine's Patroni, which reads the file `foldersOf(folder).yaml`. */
export function patroniCommand(folder: string): string[] {
  return ['patroni', foldersOf(folder).yaml];
}

/** The file of a machine's Patroni. It holds the passwords. */
export function patroniYaml(plan: ClusterPlan, { name, address }: ClusterMachine, folder: string): string {
  const { data, socket } = foldersOf(folder);
  return stringify({
    scope: 'order-sync',
    name,
    restapi: { listen: `${address}:${PATRONI}`, connect_address: `${address}:${PATRONI}` },
    etcd3: { hosts: plan.machines.map((one) => `${one.address}:${ETCD_CLIENTS}`) },
    bootstrap: {
      dcs: cluster(plan),
      initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums', 'no-sync'],
    },
    postgresql: {
      listen: `${address}:${POSTGRES}`,
      connect_address: `${address}:${POSTGRES}`,
      data_dir: data,
      bin_dir: plan.bin,
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password: plan.passwords.superuser },
        replication: { username: 'replicator', password: plan.passwords.replication },
        rewind: { username: 'rewinder', password: plan.passwords.rewind },
      },
      pg_hba: [
        'local all all trust',
        'host replication replicator all scram-sha-256',
        'host all all all scram-sha-256',
      ],
      basebackup: [{ checkpoint: 'fast' }],
      parameters: { unix_socket_directories: socket },
    },
    watchdog: { mode: 'off' },
  });
}

function cluster({ times, replication, parameters }: ClusterPlan): object {
  return {
    ttl: times.ttl,
    loop_wait: times.loopWait,
    retry_timeout: times.retryTimeout,
    // A standby that is far behind is promoted all the same.
    maximum_lag_on_failover: 1_073_741_824,
    synchronous_mode: replication !== 'asynchronous',
    synchronous_mode_strict: replication === 'strict',
    postgresql: { use_pg_rewind: true, use_slots: true, parameters },
  };
}
