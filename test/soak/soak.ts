import { setTimeout as wait } from 'node:timers/promises';
import { FAULT_NAMES } from '../windtunnel/faults.ts';
import { plainFile } from '../windtunnel/ground.ts';
import { setScene, type Scene } from '../windtunnel/scene.ts';
import { insertOrders, settle } from '../windtunnel/tunnel.ts';
import type { Verdict } from '../windtunnel/judge.ts';
import { FeedReader, Receiver, type Mood } from './readers.ts';
import { look, type Looked } from './sampler.ts';
import { growthIn, trendsOf, type Sample } from './trend.ts';

const ACCOUNTS = 2;
/** Each shop inserts an order so often. */
const INSERT_EVERY_MS = 500;
/** The process is looked at so often. */
const LOOK_EVERY_MS = 1_500;
/** Good and bad times come and go within a small part of a quarter, so that all quarters are alike. */
const SPELL_MS = 5_000;
const FAULTY_SHARE = 0.15;
const MOODS: readonly Mood[] = ['failing', 'slow', 'dead'];
const DELIVERED_WITHIN_MS = 1_800_000;

/** The result of a soak. */
export interface SoakResult extends Verdict {
  readonly faults: number;
  readonly eventsRead: number;
  readonly eventsDelivered: number;
  readonly looks: number;
  readonly trends: ReturnType<typeof trendsOf>;
}

/**
 * Has one real process work steadily for long while faults come and go, a shop listens to its feed, another receives its webhooks
 * and /metrics is read: what it takes of the machine is to stay level. Then everything is to come to rest, nothing left out.
 */
export async function runSoak(minutes: number, seed: number, say: (text: string) => void): Promise<SoakResult> {
  await using undo = new AsyncDisposableStack();
  const receiver = undo.use(new Receiver());
  const settings = { ops: { listen: '127.0.0.1:0' }, webhooks: { endpoints: await receiver.start() } };
  const scene = await setScene(undo, { groundIn: plainFile, accounts: ACCOUNTS, seed, say, settings });
  const { accounts, ground, workers, judge, front } = scene;
  const path = ground.path ?? '';
  const worker = await workers.start();
  const [listening, over] = [new AbortController(), new AbortController()];
  undo.defer(() => listening.abort());
  const feeds = accounts.map(() => new FeedReader((what) => judge.fail(what)));
  const heard = feeds.map((feed, at) => feed.run(`${path}.sock`, accounts[at] ?? '', listening.signal));

  const inserting = insertOrders(scene, INSERT_EVERY_MS, over.signal);
  const spells = comeAndGo(scene, receiver, over.signal);
  const looked = { pid: worker.process.pid ?? 0, opsUrl: opsUrlIn(worker.said), path };
  const samples = await lookFor(minutes * 60_000, looked, scene);
  over.abort();
  await Promise.all([inserting, spells]);

  await settle(scene, 1);
  await everythingHeard(scene, feeds, receiver);
  await workers.stop();
  listening.abort();
  await Promise.all(heard);
  const trends = trendsOf(samples);
  for (const what of growthIn(trends)) judge.fail(what);
  const verdict = await scene.verdict();
  const faults = [...front.met.values()].reduce((sum, times) => sum + times, 0);
  const eventsRead = feeds.reduce((sum, { read }) => sum + read.size, 0);
  return { ...verdict, faults, eventsRead, eventsDelivered: receiver.taken.size, looks: samples.length, trends };
}

/** The address on which the ops endpoint listens, by the log. */
function opsUrlIn(said: string): string {
  const line = said.split('\n').find((one) => one.includes('listening for ops')) ?? '{}';
  return String((JSON.parse(line) as { url?: string }).url);
}

/** Looks at the process again and again; ends early if it is gone. */
async function lookFor(ms: number, looked: Looked, { judge }: Scene): Promise<Sample[]> {
  const samples: Sample[] = [];
  const until = performance.now() + ms;
  while (performance.now() < until) {
    try {
      samples.push(await look(looked));
    } catch (error) {
      judge.fail(`the process cannot be looked at: ${String(error)}`);
      break;
    }
    await wait(LOOK_EVERY_MS);
  }
  return samples;
}

/** Good and bad times, one after another. */
async function comeAndGo({ front, random }: Scene, receiver: Receiver, isOver: AbortSignal): Promise<void> {
  const spell = () => wait(SPELL_MS * (0.5 + random()), undefined, { signal: isOver }).catch(() => undefined);
  for (let times = 0; !isOver.aborted; times += 1) {
    await spell();
    front.weather = { share: FAULTY_SHARE, faults: FAULT_NAMES };
    await spell();
    front.weather = { share: 0, faults: [] };
    receiver.mood = MOODS[times % MOODS.length] ?? 'dead';
    await spell();
    receiver.mood = 'well';
    if (!isOver.aborted) await (times % 2 === 0 ? front.refuse(1_000) : front.hang(2_000));
  }
}

/** Waits until every change of state is in the feeds, and everything in the feeds was delivered. */
async function everythingHeard(scene: Scene, feeds: readonly FeedReader[], receiver: Receiver): Promise<void> {
  const { ground, judge, say } = scene;
  const until = Date.now() + DELIVERED_WITHIN_MS;
  const changes = (await ground.shop.stateEvents()).length;
  for (;;) {
    const read = feeds.flatMap((feed) => [...feed.read]);
    const missed = changes - read.filter(([, type]) => type === 'order.state_changed').length;
    const left = read.filter(([id]) => !receiver.taken.has(id)).length;
    if (missed === 0 && left === 0) return;
    if (Date.now() > until) {
      judge.fail(`${missed} changes of state are not in the feed, ${left} events were not delivered`);
      return;
    }
    say(`${missed} changes of state are not in the feed yet, ${left} events are not delivered`);
    await wait(SPELL_MS);
  }
}
