import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { cursorOf, writeCursor, type Place, type FeedEvent } from './event.ts';
import { readPage, type FeedFilter, type FeedPage } from './feed.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { repeatEvery } from '../../orders/pass/run.ts';
import { feedHead } from './tables/events.ts';
import type { Store } from '../../store/port.ts';

export const MOST_STREAMS = 256;
const PAGE = 100;
const WRITTEN_AT_ONCE = 16_384;
/** How often the database is asked for new events of other processes, in ms. */
const LOOK_MS = 1_000;
/** In ms. A stream that wrote nothing for this time writes a message without data, to notice if the reader has gone. */
const SILENT_MS = 15_000;
const BLOCKED_MS = 30_000;
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  connection: 'close',
};

type StreamDeps = Pick<FlowDeps, 'clock'> & { readonly store: Pick<Store, 'db' | 'newEvents'> };

export class EventStreams {
  readonly #deps: StreamDeps;
  readonly #stopping: AbortSignal;
  readonly #streams = new Set<Stream>();
  /** Pages that are being read. Streams with the same filter and place share a page. */
  readonly #pages = new Map<string, Promise<FeedPage>>();

  /** Serves until `stopping` aborts, which ends all streams at once. */
  constructor(deps: StreamDeps, stopping: AbortSignal) {
    this.#deps = deps;
    this.#stopping = stopping;
    const listening = deps.store.newEvents.listen((account) => {
      for (const stream of this.#streams) if (stream.filter.account === account) stream.wake();
    });
    stopping.addEventListener('abort', () => {
      listening[Symbol.dispose]();
      for (const stream of this.#streams) stream.end();
    });
    void repeatEvery(deps.clock, LOOK_MS, stopping, () => this.#look());
  }

  get isFull(): boolean {
    return this.#stopping.aborted || this.#streams.size >= MOST_STREAMS;
  }

  serve(response: ServerResponse, filter: FeedFilter, after: Place): void {
    // A response that has closed already emits no `close`, so its stream would never be removed.
    if (response.destroyed) return;
    const stream = new Stream(response, filter, after, this.#deps.clock);
    this.#streams.add(stream);
    response.once('close', () => {
      this.#streams.delete(stream);
      stream.cut();
    });
    void stream.run((place) => this.#read(filter, place));
  }

  #read(filter: FeedFilter, after: Place): Promise<FeedPage> {
    const key = JSON.stringify([filter, after.id]);
    const page = this.#pages.get(key) ?? readPage(this.#deps.store.db, filter, after, PAGE);
    this.#pages.set(key, page);
    return page.finally(() => this.#pages.delete(key));
  }

  async #look(): Promise<void> {
    for (const stream of this.#streams) stream.check(this.#deps.clock.monotonic());
    const streams = Map.groupBy(this.#streams, ({ filter }) => filter.account);
    for (const [account, ofAccount] of streams) {
      const head = await feedHead(this.#deps.store.db, account).catch(() => undefined);
      for (const stream of ofAccount) if (head !== undefined && stream.place.id < head.id) stream.wake();
    }
  }
}

class Stream {
  readonly filter: FeedFilter;
  place: Place;
  readonly #response: ServerResponse;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #ended = new AbortController();
  #woken = Promise.withResolvers<void>();
  /** The monotonic time of the last write. The next write waits until the reader has taken the last one. */
  #wroteAt: number;

  constructor(response: ServerResponse, filter: FeedFilter, after: Place, clock: Pick<Clock, 'monotonic'>) {
    this.filter = filter;
    this.place = after;
    this.#response = response;
    this.#clock = clock;
    this.#wroteAt = clock.monotonic();
  }

  async run(read: (after: Place) => Promise<FeedPage>): Promise<void> {
    this.#response.writeHead(200, HEADERS).flushHeaders();
    try {
      await this.#write(this.#placeText());
      while (!this.#ended.signal.aborted) {
        // `#woken` is renewed before the read, so that events committed during the read cause another read.
        this.#woken = Promise.withResolvers();
        const page = await read(this.place);
        await this.#writeAll(page.events);
        this.place = page.next;
        if (page.isEnd) await this.#woken.promise;
      }
    } catch {
      // The database failed or the stream ended. The reader connects again with its last cursor.
      this.cut();
    }
  }

  wake(): void {
    this.#woken.resolve();
  }

  /** Cuts the connection if the last write is not taken after 30 s. Sends the cursor after 15 s without a write. */
  check(now: number): void {
    const sinceMs = now - this.#wroteAt;
    if (this.#response.writableNeedDrain) {
      if (sinceMs >= BLOCKED_MS) this.cut();
    } else if (sinceMs >= SILENT_MS) void this.#write(this.#placeText()).catch(() => undefined);
  }

  /** Ends the response. Cuts the connection at once if the reader has not taken the last write. */
  end(): void {
    if (this.#response.writableNeedDrain) return this.cut();
    this.#stop();
    this.#response.end();
  }

  cut(): void {
    this.#stop();
    this.#response.destroy();
  }

  /** Returns a message without data, which readers do not treat as an event. */
  #placeText(): string {
    return `:\nid: ${writeCursor(this.place)}\n\n`;
  }

  #stop(): void {
    this.#ended.abort();
    this.wake();
  }

  /** Writes several events at a time, because each write is a system call. */
  async #writeAll(events: readonly FeedEvent[]): Promise<void> {
    let text = '';
    for (const [index, event] of events.entries()) {
      text += `id: ${cursorOf(event)}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
      if (text.length < WRITTEN_AT_ONCE && index < events.length - 1) continue;
      await this.#write(text);
      text = '';
    }
  }

  async #write(text: string): Promise<void> {
    const { signal } = this.#ended;
    signal.throwIfAborted();
    this.#wroteAt = this.#clock.monotonic();
    if (!this.#response.write(text)) await once(this.#response, 'drain', { signal });
  }
}
