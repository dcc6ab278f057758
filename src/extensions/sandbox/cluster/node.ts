import { join } from 'node:path';
import { stringify } from 'yaml';

/** A machine of a cluster. It runs Patroni, PostgreSQL and a member of etcd. */
export type ClusterMachine = Readonly<{ name: string; address: string; ports: Ports }>;

/** The ports of PostgreSQL, of Patroni's interface, of etcd for clients, and of etcd for its other members. */
export type Ports = Readonly<Record<'postgres' | 'patroni' | 'clients' | 'peers', number>>;

/** How Patroni replicates: `strict` lets no commit through without a synchronous standby. */
export type Replication = 'asynchronous' | 'synchronous' | 'strict';

export interface ClusterPlan {
  readonly machines: readonly ClusterMachine[];
  readonly bin: string;
  readonly replication: Replication;
  readonly password: string;
  readonly parameters: Readonly<Record<string, string | number>>;
}

/** Returns the paths of a machine in `folder`. The user of its processes must own the folder. */
export function foldersOf(folder: string): Readonly<Record<'etcd' | 'data' | 'socket' | 'yaml', string>> {
  const [etcd, data, yaml] = [join(folder, 'etcd'), join(folder, 'disk', 'data'), join(folder, 'patroni.yaml')];
  return { etcd, data, socket: folder, yaml };
}

export function etcdCommand({ machines }: ClusterPlan, machine: ClusterMachine, folder: string): string[] {
  const { name, address, ports } = machine;
  const peers = machines.map((one) => `${one.name}=http://${one.address}:${one.ports.peers}`);
  const [clients, own] = [`http://${address}:${ports.clients}`, `http://${address}:${ports.peers}`];
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

export function patroniYaml(plan: ClusterPlan, { name, address, ports }: ClusterMachine, folder: string): string {
  const { data, socket } = foldersOf(folder);
  const { password } = plan;
  const [patroni, postgres] = [`${address}:${ports.patroni}`, `${address}:${ports.postgres}`];
  return stringify({
    scope: 'order-sync',
    name,
    restapi: { listen: patroni, connect_address: patroni },
    etcd3: { hosts: plan.machines.map((one) => `${one.address}:${one.ports.clients}`) },
    bootstrap: { dcs: cluster(plan), initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, 'data-checksums', 'no-sync'] },
    postgresql: {
      listen: postgres,
      connect_address: postgres,
      data_dir: data,
      bin_dir: plan.bin,
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres', password },
        replication: { username: 'replicator', password },
        rewind: { username: 'rewinder', password },
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

function cluster({ replication, parameters }: ClusterPlan): object {
  return {
    // With these times a fail-over takes 10 s. Patroni 3.0 accepts them, although its manual demands 20 s for `ttl`.
    ttl: 5,
    loop_wait: 1,
    retry_timeout: 2,
    // A standby that is far behind is promoted all the same.
    maximum_lag_on_failover: 1_073_741_824,
    synchronous_mode: replication !== 'asynchronous',
    synchronous_mode_strict: replication === 'strict',
    postgresql: { use_pg_rewind: true, use_slots: true, parameters },
  };
}
