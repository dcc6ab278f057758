import { readFeed } from '../../feed/tables/events.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Stage } from './stage.ts';
import { say, untilSettled, type Watched } from './verdict.ts';
import { inUnits } from '../../documents/words.ts';

const LOOK_MS = 10;
const MOST_EVENTS = 10_000;

/** Kills the primary while orders are sent, and inserts more orders. Returns true if `untilSettled` does. */
export async function failOver(watched: Stage & Watched, cluster: Cluster, insertRest: () => Promise<void>) {
  const { clock, sandbox, shops, signal, until } = watched;
  const many = shops.flatMap(({ orders }) => orders).length / 4;
  const lost = await cluster.primary();
  while (sandbox.requests.length < many && clock.monotonic() < until) await clock.sleep(LOOK_MS, signal);
  await cluster.kill(lost);
  const lostAt = clock.monotonic();
  const sinceLoss = () => inUnits(clock.monotonic() - lostAt);
  say(`${lost}, the primary, is killed while orders are sent: its PostgreSQL, Patroni and etcd (SIGKILL).`);
  const promoted = cluster.primary().then((name) => say(`${name} is promoted ${sinceLoss()} after the loss.`));
  await Promise.all([promoted, insertRest()]);
  const isSettled = await untilSettled(watched);
  const times = [lostAt, ...sandbox.requests.map(({ monotonic }) => monotonic).filter((at) => at > lostAt)];
  // The longest gap counts, because requests that were in flight still come after the loss.
  const pauseMs = Math.max(0, ...times.slice(1).map((at, index) => at - (times[index] ?? at)));
  say(`No request came to the exchange for ${inUnits(pauseMs)}.`);
  return isSettled;
}

export async function doubtOf({ store, shops }: Pick<Stage, 'store' | 'shops'>): Promise<string> {
  const states = new Map<string, string | null>();
  for (const { account } of shops) {
    for (const event of await readFeed(store.db, { account, afterId: 0, limit: MOST_EVENTS })) {
      const { type, subject, field, new_value: state } = event;
      const isState = type === 'order' && field === 'state';
      if (isState && (state === 'unknown' || states.has(subject))) states.set(subject, state);
    }
  }
  const ids = [...states.keys()];
  const faulted = ids.filter((id) => id.startsWith('fault-')).length;
  const ends = [...Map.groupBy(states.values(), (state) => state)].map(([state, all]) => `${all.length} ${state}`);
  const doubt = `Orders in doubt: ${faulted} because the answer was lost on purpose, ${ids.length - faulted} because of the fail-over`;
  return `${doubt}. They are now: ${ends.join(', ')}.`;
}
