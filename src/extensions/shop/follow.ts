import type { Asker, CallOptions, Operation } from './ask.ts';
import { jittered, sleep, TimeLimit } from './clock.ts';
import { OrderSyncError } from './errors.ts';
import { withCursor, type FeedEvent } from './cursor.ts';
import type { EventOfType, EventType, OrderSyncEvent } from './event.ts';

export interface EventFilter<Type extends EventType = EventType> {
  /** The `cursor` of the event to begin after. `0`, the default, means all events, `head` only new events. */
  readonly after?: string | undefined;
  readonly types?: readonly Type[] | undefined;
  /** Only events of this order and of its findings. */
  readonly order?: string | undefined;
}

export interface EventPage<Type extends EventType = EventType> {
  readonly events: readonly EventOfType<Type>[];
  /** The cursor of the last event that was examined, even if a filter left that event out. Read on after `next`. */
  readonly next: string;
  /** The cursor of the newest event of the account. If `next` equals `head`, everything was read. */
  readonly head: string;
}

export const LIST_EVENTS: Operation = { method: 'GET', path: '/events', isSafe: true };
const PAGE = 1_000;
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 15_000;
/** A stream that is silent for longer is broken, because the server writes at least every 15 s. */
const SILENT_MS = 45_000;
/** The most characters of an event in a stream; real events have far fewer. */
const LONGEST_FRAME = 1_000_000;

export async function readPage<Type extends EventType>(
  asker: Asker,
  { after, limit, types, order }: EventFilter<Type> & { readonly limit?: number },
  options: CallOptions,
): Promise<EventPage<Type>> {
  const page = await asker.ask<EventPage<Type>>(LIST_EVENTS, { query: { after, limit, type: types, order } }, options);
  for (const event of page.events) withCursor(event);
  return page;
}

/** Events in order, and the cursor that the next events come after. */
type Batch = Readonly<{ events: readonly OrderSyncEvent[]; next: string; isLive: boolean }>;

/** Yields each event once, in order. Reads on from the last cursor after a break. Returns when `signal` aborts. */
export async function* followEvents(asker: Asker, filter: EventFilter, signal: AbortSignal | undefined) {
  const limit = new TimeLimit(signal);
  try {
    let after = filter.after ?? '0';
    for (let failures = 0; !limit.signal.aborted; failures += 1) {
      let leastMs = 0;
      try {
        for await (const { events, next, isLive } of batchesOf(asker, { ...filter, after }, limit.signal)) {
          for (const event of events) {
            if (limit.signal.aborted) return;
            yield event;
          }
          after = next;
          if (isLive || events.length > 0) failures = 0;
        }
      } catch (error) {
        if (limit.signal.aborted) return;
        if (isFinal(error)) throw error;
        leastMs = (error as OrderSyncError).retryAfterMs ?? 0;
      }
      const waitMs = Math.min(FIRST_WAIT_MS * 2 ** Math.min(failures, 10), LONGEST_WAIT_MS);
      await sleep(Math.max(leastMs, jittered(waitMs)), limit.signal).catch(() => undefined);
    }
  } finally {
    limit.end();
  }
}

/** True if another try would fail too, because the cursor, the token or the request is wrong. */
function isFinal(error: unknown): boolean {
  if (!(error instanceof OrderSyncError)) return true;
  const { kind, status } = error;
  return kind === 'unusable' || (status !== null && status >= 400 && status < 500 && status !== 408 && status !== 429);
}

/** Reads all pages, each while the caller handles the previous page, and then listens until the stream ends. */
async function* batchesOf(asker: Asker, filter: EventFilter, signal: AbortSignal): AsyncGenerator<Batch, void> {
  const limit = new TimeLimit(signal);
  const read = (after: string | undefined) => {
    const page = readPage(asker, { ...filter, after, limit: PAGE }, { signal: limit.signal });
    // If the page is rejected before it is awaited, the process must not end.
    page.catch(() => undefined);
    return page;
  };
  try {
    for (let page = read(filter.after); ;) {
      const { events, next, head } = await page;
      if (next !== head) page = read(next);
      yield { events, next, isLive: false };
      if (next === head) return yield* streamOf(asker, { ...filter, after: next }, limit);
    }
  } finally {
    limit.end();
  }
}

async function* streamOf(asker: Asker, filter: EventFilter, limit: TimeLimit): AsyncGenerator<Batch, void> {
  const { after = '0', types, order } = filter;
  const headers = { accept: 'text/event-stream' };
  const { chunks } = await asker.open(LIST_EVENTS, { query: { after, type: types, order }, headers }, limit);
  const decoder = new TextDecoder();
  let [rest, next] = ['', after];
  limit.restart(SILENT_MS);
  try {
    for await (const chunk of chunks) {
      rest += decoder.decode(chunk, { stream: true });
      const end = rest.lastIndexOf('\n\n');
      if (end < 0 && rest.length > LONGEST_FRAME) throw new RangeError('an event has no end');
      if (end < 0) continue;
      const lines = rest.slice(0, end).split('\n');
      rest = rest.slice(end + 2);
      next = fieldsOf('id', lines).at(-1) ?? next;
      const events = fieldsOf('data', lines).map((json) => withCursor(JSON.parse(json) as FeedEvent));
      // The time in which the caller handles the events does not count as silence.
      limit.pause();
      yield { events, next, isLive: true };
      limit.restart(SILENT_MS);
    }
  } catch (cause) {
    throw new OrderSyncError('no-answer', 'the stream broke off', { cause });
  }
}

function fieldsOf(name: string, lines: readonly string[]): string[] {
  return lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
}
