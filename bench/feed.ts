import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { MOST_STREAMS } from '../src/extensions/feed/stream.ts';
import { OrderSync } from '../src/extensions/shop/client.ts';
import { runProgram, startDaemon } from './child.ts';
import { middle, type Figure } from './figures.ts';
import { fillWithFinalOrders } from './large-database.ts';
import { cpuMsOf } from './process.ts';
import { apiFor, settingsFor, type Bench } from './settings.ts';

const TARGET_SECONDS = 10;
const CLIENT_SECONDS = 8;
const EVENTS_AN_ORDER = 2;
/** Events that each follower hears, one after another. */
const HEARD = 30;
/** Nothing is asked of the exchange: nothing is due. */
const NOBODY = 'http://127.0.0.1:9';

/**
 * The whole feed of an account read: by the command, as pages over the control socket, and by the client of a shop. Then how soon as
 * many followers as there may be have each heard of a new event over the API.
 */
export async function measureFeed({ folder, path, sizes, say }: Bench): Promise<Figure[]> {
  const { events } = sizes;
  fillWithFinalOrders(path, events / EVENTS_AN_ORDER, say);
  const settings = settingsFor(NOBODY, path);
  await runProgram(folder, ['db', 'accept-restore', '--yes', '--assume-not-sent', '--reason', 'made here'], settings);
  say('feed: the command, and pages over the socket');
  const command = await runProgram(folder, ['events', '--json'], settings);
  const api = await apiFor(folder);
  await using daemon = await startDaemon(folder, { ...settings, ...api.settings });
  const measure = async (read: (socketPath: string) => Promise<number>) => {
    const cpuBefore = [cpuMsOf(daemon.pid), cpuMsOf(process.pid)] as const;
    const start = performance.now();
    const count = await read(`${path}.sock`);
    const ms = performance.now() - start;
    if (count < events) throw new Error(`${count} of ${events} events were read`);
    return { ms, daemonMs: cpuMsOf(daemon.pid) - cpuBefore[0], ownMs: cpuMsOf(process.pid) - cpuBefore[1] };
  };
  const pages = await measure(readPages);
  const client = await measure(async (socket) => await followAll(socket, events));
  say(`feed: ${MOST_STREAMS} followers`);
  const heard = await measureFollowers(new OrderSync(api.access));
  const target = { atMost: TARGET_SECONDS };
  return [
    { name: `events --json of ${events} events`, unit: 's', value: command.ms / 1_000, target },
    { name: 'the same, memory', unit: 'MiB', value: command.peakMib },
    { name: `${events} events in pages over the socket`, unit: 's', value: pages.ms / 1_000, target },
    { name: 'the same, CPU of the daemon', unit: 's', value: pages.daemonMs / 1_000 },
    {
      name: `${events} events by the client`,
      unit: 's',
      value: client.ms / 1_000,
      target: { atMost: CLIENT_SECONDS },
    },
    { name: 'the same, CPU of the daemon', unit: 's', value: client.daemonMs / 1_000 },
    { name: 'the same, CPU of the client', unit: 's', value: client.ownMs / 1_000 },
    { name: `a decision to the last of ${MOST_STREAMS} followers, median`, unit: 'ms', ...middle(heard) },
  ];
}

async function followAll(socket: string, events: number): Promise<number> {
  let count = 0;
  for await (const { cursor } of new OrderSync({ socket }).events.follow()) {
    if (cursor !== '') count += 1;
    if (count === events) break;
  }
  return count;
}

/** How long it takes, in ms, from asking for a decision until the last follower has its event. */
async function measureFollowers({ events, decisions }: OrderSync): Promise<readonly number[]> {
  const { next: after } = await events.list({ after: 'head' });
  const stopping = new AbortController();
  const followers = Array.from({ length: MOST_STREAMS }, () => events.follow({ after, signal: stopping.signal }));
  const took: number[] = [];
  for (let event = 0; event <= HEARD; event += 1) {
    const hearing = followers.map(async (follower) => await follower.next());
    const start = performance.now();
    const reason = 'measuring';
    await (event % 2 === 0 ? decisions.pause({ what: 'creates', reason }) : decisions.resume({ reason }));
    await Promise.all(hearing);
    // Before the first event they connect.
    if (event > 0) took.push(performance.now() - start);
  }
  stopping.abort();
  return took;
}

/** Reads page after page to the end, as a shop does; returns the number of events. */
async function readPages(socketPath: string): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let count = 0;
  for (let after = '0'; ;) {
    const { events, next, head } = await readPage(agent, socketPath, after);
    count += events.length;
    after = next;
    if (next === head) break;
  }
  agent.destroy();
  return count;
}

interface Page {
  readonly events: readonly unknown[];
  readonly next: string;
  readonly head: string;
}

async function readPage(agent: Agent, socketPath: string, after: string): Promise<Page> {
  const body = await new Promise<string>((resolve, reject) => {
    request({ agent, socketPath, path: `/events?limit=1000&after=${after}` }, (response) => {
      text(response).then(resolve, reject);
    })
      .on('error', reject)
      .end();
  });
  const { value } = JSON.parse(body) as { value?: Page };
  if (value === undefined) throw new Error(`the daemon answered ${body.slice(0, 500)}`);
  return value;
}
