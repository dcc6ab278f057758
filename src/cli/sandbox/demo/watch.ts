import { createLogUpdate } from 'log-update';
import type { Clock } from '../../../clock.ts';
import { ORDER_STATES } from '../../../domain/orders/states.ts';
import { listFindings } from '../../../store/listed-findings.ts';
import { countByState } from '../../../store/orders.ts';
import type { Store } from '../../../store/port.ts';
import type { Shop } from './shops.ts';

const REFRESH_MS = 500;
/** States in which an order goes on by itself. */
const UNDER_WAY = ['pending', 'sending', 'unknown', 'accepted', 'open'] as const;
const UNSENT = ['pending', 'sending'] as const;

/** What is watched, and until when on the monotonic clock. */
export interface Watched {
  readonly store: Store;
  readonly clock: Clock;
  readonly shops: readonly Shop[];
  readonly until: number;
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** What there is at one moment, of all shops together. */
interface Progress {
  readonly counts: ReadonlyMap<string, number>;
  readonly findings: ReadonlySet<string>;
}

/** True once every order is sent; false when the time is up before. */
export async function untilSent(watched: Watched): Promise<boolean> {
  return await watch(watched, ({ counts }) => sumOf(counts, UNSENT) === 0);
}

/** True once every order is settled and every expected finding is there; false when the time is up before. */
export async function untilSettled(watched: Watched): Promise<boolean> {
  const expected = watched.shops.flatMap((shop) => shop.expected);
  // An order that was reopened never ends.
  const endless = expected.filter((finding) => finding.startsWith('TERMINAL_REOPENED ')).length;
  return await watch(
    watched,
    ({ counts, findings }) =>
      sumOf(counts, UNDER_WAY) === endless && expected.every((finding) => findings.has(finding)),
  );
}

/** Shows the counts until `isEnd` is true of them. */
async function watch(watched: Watched, isEnd: (progress: Progress) => boolean): Promise<boolean> {
  const { clock, until, signal, print } = watched;
  const live = process.stdout.isTTY ? createLogUpdate(process.stdout) : undefined;
  let shown = '';
  try {
    while (clock.monotonic() < until) {
      signal.throwIfAborted();
      const progress = await progressOf(watched);
      const { counts, findings } = progress;
      const states = [...counts].map(([state, orders]) => `${state} ${orders}`);
      const text = [...states, ...(findings.size > 0 ? [`findings ${findings.size}`] : [])].join(' · ');
      if (live !== undefined) live(text);
      else if (text !== shown) print(text);
      shown = text;
      if (isEnd(progress)) return true;
      await clock.sleep(REFRESH_MS, signal).catch(() => undefined);
    }
    return false;
  } finally {
    live?.done();
  }
}

async function progressOf({ store, shops }: Watched): Promise<Progress> {
  const counts = new Map<string, number>();
  const findings = new Set<string>();
  for (const { account } of shops) {
    for (const [state, orders] of await countByState(store.db, account, ORDER_STATES))
      counts.set(state, (counts.get(state) ?? 0) + orders);
    const { rows } = await listFindings(store.db, { account, status: 'open', limit: 1_000 });
    for (const one of rows) findings.add(`${one.class} ${one.external_order_id}`);
  }
  return { counts, findings };
}

function sumOf(counts: ReadonlyMap<string, number>, states: readonly string[]): number {
  return states.reduce((sum, state) => sum + (counts.get(state) ?? 0), 0);
}
