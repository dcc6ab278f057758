import type Database from 'better-sqlite3';
import {
  EVENT_TYPES,
  feedEventOf,
  type EventRow,
  type EventType,
  type FeedEvent,
  writeCursor,
} from '../../../src/extensions/feed/event.ts';
import { placeOf, readPage } from '../../../src/extensions/feed/feed.ts';
import { FEED_COLUMNS } from '../../../src/extensions/feed/tables/events.ts';
import type { Store } from '../../../src/store/port.ts';
import type { Chance } from '../plan/chance.ts';

/** Who hears of a broken promise. */
export type Fail = (promise: string, detail: string) => void;

/** A program beside order-sync that reads the feed of an account by its cursor, and is killed now and then. */
export class FeedReader {
  readonly #db: Store['db'];
  readonly #account: string;
  readonly #chance: Chance;
  readonly #fail: Fail;
  readonly #types: readonly EventType[] | undefined;
  /** The events that it has got, by cursor, in the order in which they came for the first time. */
  readonly #got = new Map<number, string>();
  #cursor = '0';
  #newest = 0;

  constructor(db: Store['db'], account: string, chance: Chance, fail: Fail) {
    this.#db = db;
    this.#account = account;
    this.#chance = chance;
    this.#fail = fail;
    this.#types = chance.next() < 0.7 ? undefined : EVENT_TYPES.filter(() => chance.next() < 0.5);
  }

  /** The cursor that it has kept. */
  get cursor(): string {
    return this.#cursor;
  }

  /** Reads to the end of the feed, in pages; unless it is killed before it has kept its cursor. */
  async read({ mayDie = true } = {}): Promise<void> {
    for (;;) {
      const place = await placeOf(this.#db, this.#account, this.#cursor);
      if ('reason' in place) return this.#fail('the feed continues after its cursor', place.message);
      const filter = { account: this.#account, types: this.#types };
      const page = await readPage(this.#db, filter, place, this.#chance.of([1, 3, 100]));
      const again = page.events.find(({ cursor }) => cursor <= place.id);
      if (again !== undefined)
        this.#fail('the feed continues after its cursor', `${again.cursor} came after ${place.id}`);
      for (const event of page.events) this.#take(event);
      if (mayDie && this.#chance.next() < 0.1) return;
      this.#cursor = writeCursor(page.next);
      if (page.next.id >= page.head.id) return;
    }
  }

  /** Checks that it has got each event of the account, as the rows are. */
  async checkEnd(reader: Database.Database): Promise<void> {
    await this.read({ mayDie: false });
    const columns = FEED_COLUMNS.join(', ');
    const rows = reader.prepare(`select ${columns} from events where account = ? order by id`).all(this.#account);
    const events = (rows as EventRow[]).map(feedEventOf);
    const wanted = events.filter(({ type }) => this.#types?.includes(type) !== false).map((one) => JSON.stringify(one));
    const got = [...this.#got.values()];
    const differs = wanted.findIndex((text, index) => text !== got[index]);
    if (differs >= 0 || got.length !== wanted.length)
      this.#fail('the feed is complete', `${got.length} of ${wanted.length}, ${got[differs]} for ${wanted[differs]}`);
    const { cursor = 0 } = events.at(-1) ?? {};
    for (const foreign of [`${cursor}.0123456789abcdef`, String(cursor + 1), 'zero']) {
      const place = await placeOf(this.#db, this.#account, foreign);
      if (!('reason' in place)) this.#fail('a cursor of another database is refused', foreign);
    }
  }

  #take(event: FeedEvent): void {
    const text = JSON.stringify(event);
    const before = this.#got.get(event.cursor);
    if (/canary|whsec_/.test(text)) this.#fail('secrets stay in', text);
    if (before !== undefined && before !== text) this.#fail('the feed has the same bytes', `${before}, then ${text}`);
    if (before !== undefined) return;
    if (event.cursor <= this.#newest) this.#fail('the feed is in order', `${text} came after ${this.#newest}`);
    this.#newest = event.cursor;
    this.#got.set(event.cursor, text);
  }
}
