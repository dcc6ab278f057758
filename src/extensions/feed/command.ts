import { InvalidArgumentError, Option, type Command } from 'commander';
import { isOfAll } from '../commands/account.ts';
import { withAccounts } from '../commands/store.ts';
import { systemClock } from '../../base/clock.ts';
import { EVENT_TYPES, BEGINNING, cursorOf, feedEventOf, readCursor, writeCursor } from './event.ts';
import type { EventType, FeedEvent, Place } from './event.ts';
import { placeOf, readPage } from './feed.ts';
import { lostFile } from '../../store/errors.ts';
import { feedHeads, newestEvents, type FeedHead } from './tables/events.ts';
import type { Store } from '../../store/port.ts';
import { CommandError, EXIT, stopSignal } from '../../cli/shared/exit.ts';
import { printList, type ListColumn } from '../commands/print.ts';
import { wholeNumber } from '../../cli/shared/options.ts';
import { examples } from '../commands/options.ts';
import { screenOf } from '../../cli/shared/help.ts';
import { isWritten } from '../commands/files.ts';
import { eventLine } from './line.ts';

const PAGE = 1_000;
const LOOK_MS = 250;
const HEAD_TEXT = 'print the newest event of each account with its hash, to keep the hash elsewhere';

interface EventsOptions {
  readonly after?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly limit?: number;
  readonly type?: readonly EventType[];
  readonly order?: string;
  readonly head?: boolean;
  readonly schema?: boolean;
}

export function define(command: Command): void {
  command
    .description(
      'prints the events, the newest last: one line for each event, and on a terminal as many as fit on the screen',
    )
    .option('--after <cursor>', "only events after this cursor; 'head': only events from now on", readAfter)
    .option('--follow', 'keep printing new events until Ctrl-C')
    .option('--limit <n>', 'print at most this many', wholeNumber(1, 999_999_999))
    .addOption(new Option('--type <types...>', 'only events of these types').choices(EVENT_TYPES))
    .option('--order <id>', 'only events of this order and of its findings')
    .addOption(new Option('--head', HEAD_TEXT).conflicts(['after', 'follow', 'type', 'order']))
    .option('--schema', 'print the JSON Schema of an event (docs/events.schema.json)')
    .option('--json', 'print JSON: one object a line')
    .addHelpText(...examples('events --after 1042 --json', 'events --follow --after head --type order.needs_attention'))
    .action(async (options: EventsOptions) => {
      if (options.schema === true) {
        const { eventSchema } = await import('./schema.ts');
        return void process.stdout.write(`${JSON.stringify(eventSchema(), null, 2)}\n`);
      }
      if (options.after !== undefined && options.after !== 'head' && isOfAll(command))
        command.error('error: a cursor belongs to one account: name the account with --account');
      await withAccounts(command, async (store, account) => {
        if (options.head === true) return await printHeads(command, await feedHeads(store.db, account), options);
        const line = (event: FeedEvent) =>
          options.json === true ? `${JSON.stringify(event)}\n` : eventLine(event, screenOf(), isOfAll(command));
        await printEvents(store, account, options, line);
      });
    });
}

function readAfter(text: string): string {
  if (text === 'head' || readCursor(text) !== undefined) return text;
  throw new InvalidArgumentError('Give a cursor of the feed, 0 or head.');
}

async function printHeads(command: Command, heads: readonly FeedHead[], { json, limit = heads.length }: EventsOptions) {
  const columns: readonly ListColumn<FeedHead>[] = [
    { label: 'id', kind: 'count', of: ({ id }) => id },
    { label: 'at', kind: 'time', rank: 1, of: ({ observed_at }) => observed_at },
    { label: 'hash', isId: true, of: ({ hash }) => hash },
  ];
  if (json === true) {
    const lines = heads.slice(0, limit).map((head) => `${JSON.stringify({ ...head, cursor: writeCursor(head) })}\n`);
    return void process.stdout.write(lines.join(''));
  }
  await printList(command, heads, { limit }, columns, 'there is no event');
}

async function printEvents(
  store: Store,
  account: string | undefined,
  options: EventsOptions,
  line: (event: FeedEvent) => string,
): Promise<void> {
  const { follow = false, limit = Infinity, type: types, order: externalOrderId, after, json } = options;
  const isNarrowed = [after, options.limit, types, externalOrderId, json].some((given) => given !== undefined);
  const newest = process.stdout.isTTY && !isNarrowed ? await newestOnScreen(store, account, line) : undefined;
  if (newest !== undefined && !follow) return;
  const afterOf = (name: string) => newest?.get(name) ?? after ?? (newest === undefined ? '0' : 'head');
  const clock = systemClock();
  const stop = follow ? stopSignal(clock) : new AbortController().signal;
  const places = new Map<string, Place>();
  for (const name of await accountsToRead(store, account, places)) {
    const place = await placeOf(store.db, name, afterOf(name));
    if ('reason' in place) throw new CommandError(EXIT.absent, place.message);
    places.set(name, place);
  }
  for (let left = limit; !stop.aborted;) {
    let isEnd = true;
    for (const name of await accountsToRead(store, account, places)) {
      const filter = { account: name, types, externalOrderId };
      const page = await readPage(store.db, filter, places.get(name) ?? BEGINNING, Math.min(PAGE, left));
      places.set(name, page.next);
      if (page.events.length > 0 && !(await isWritten(page.events.map(line).join('')))) return;
      left -= page.events.length;
      if (left <= 0) return;
      isEnd &&= page.isEnd;
    }
    if (!isEnd) continue;
    if (!follow) return;
    await clock.sleep(LOOK_MS, stop).catch(() => undefined);
    if (!store.isInPlace()) throw lostFile(store.address);
  }
}

/** Prints the newest events that fit on the screen. Returns the newest cursor of each account. */
async function newestOnScreen({ db }: Store, account: string | undefined, line: (event: FeedEvent) => string) {
  const most = Math.min(PAGE, Math.max(1, process.stdout.rows - 2));
  const events = (await newestEvents(db, account, most)).map(feedEventOf).toReversed();
  await isWritten(events.map(line).join(''));
  if (events.length === most) process.stderr.write(`the newest ${most} events: --after 0 prints all of them\n`);
  return new Map(events.map((event) => [event.account, cursorOf(event)]));
}

async function accountsToRead({ db }: Store, account: string | undefined, places: ReadonlyMap<string, Place>) {
  if (account !== undefined) return [account];
  const heads = await feedHeads(db, undefined);
  return heads.filter((head) => head.id > (places.get(head.account)?.id ?? 0)).map((head) => head.account);
}
