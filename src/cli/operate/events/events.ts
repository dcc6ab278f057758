import { InvalidArgumentError, Option, type Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import {
  BEGINNING,
  readCursor,
  writeCursor,
  type Place,
  EVENT_TYPES,
  type EventType,
  type FeedEvent,
} from '../../../domain/events/feed.ts';
import { placeOf, readPage } from '../../../flows/events/feed.ts';
import { StoreError } from '../../../store/errors.ts';
import { feedHeads, type FeedHead } from '../../../store/feed.ts';
import type { Store } from '../../../store/port.ts';
import { isOfAll, type AccountOptions } from '../../shared/account.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { accountColumn, printList, type ListColumn } from '../../shared/list.ts';
import { wholeNumber } from '../../shared/options.ts';
import { screenOf } from '../../shared/screen.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { withAccounts } from '../../shared/store.ts';
import { isWritten } from '../../shared/write.ts';
import { eventLine } from './line.ts';

/** Events that are read at a time. */
const PAGE = 1_000;
/** New events are looked for so often. */
const LOOK_MS = 250;

interface EventsOptions extends AccountOptions {
  readonly after?: string;
  readonly follow?: boolean;
  readonly json?: boolean;
  readonly limit?: number;
  readonly type?: readonly EventType[];
  readonly order?: string;
  readonly head?: boolean;
  readonly schema?: boolean;
}

/** `order-sync events`: the event feed. */
export function define(command: Command): void {
  command
    .description('prints what has happened, in the order in which it was recorded: one line an event')
    .option('--after <cursor>', "only what comes after this event; 'head': what comes from now on", readAfter)
    .option('--follow', 'go on with what happens, until SIGINT')
    .option('--limit <n>', 'at most so many', wholeNumber(1, 999_999_999))
    .addOption(new Option('--type <types...>', 'only events of these types').choices(EVENT_TYPES))
    .option('--order <id>', 'only of this order and of its findings')
    .addOption(
      new Option('--head', 'the newest event of each account, with its hash, to be kept elsewhere').conflicts([
        'after',
        'follow',
        'type',
        'order',
      ]),
    )
    .addOption(new Option('--schema', 'the JSON Schema of an event; docs/events.schema.json holds it'))
    .option('--json', 'print JSON: one object a line')
    .addHelpText(
      'after',
      '\nExamples:\n  order-sync events --after 1042 --json\n  order-sync events --follow --after head --type order.needs_attention',
    )
    .action(async (options: EventsOptions) => {
      if (options.schema === true) return await printSchema();
      if (options.after !== undefined && options.after !== 'head' && isOfAll(command)) {
        command.error('error: a cursor is of one account: name it with --account');
      }
      await withAccounts(command, async (store, account) => {
        if (options.head === true) printHeads(await feedHeads(store.db, account), options, command);
        else await printEvents(store, account, options, lineOf(options, command));
      });
    });
}

function readAfter(text: string): string {
  if (text === 'head' || readCursor(text) !== undefined) return text;
  throw new InvalidArgumentError('Give a cursor as the feed gave it, 0 or head.');
}

async function printSchema(): Promise<void> {
  const { eventSchema } = await import('../../../http/events/schema.ts');
  process.stdout.write(`${JSON.stringify(eventSchema(), null, 2)}\n`);
}

function printHeads(heads: readonly FeedHead[], { json, limit = heads.length }: EventsOptions, command: Command): void {
  const columns: readonly ListColumn<FeedHead>[] = [
    { label: 'id', kind: 'count', of: ({ id }) => id },
    { label: 'at', kind: 'time', rank: 1, of: ({ observed_at }) => observed_at },
    { label: 'hash', of: ({ hash }) => hash },
  ];
  if (json === true) {
    const lines = heads.slice(0, limit).map((head) => `${JSON.stringify({ ...head, cursor: writeCursor(head) })}\n`);
    process.stdout.write(lines.join(''));
    return;
  }
  printList(heads, { limit }, [...accountColumn(command), ...columns], 'there is no event');
}

function lineOf({ json }: EventsOptions, command: Command): (event: FeedEvent) => string {
  if (json === true) return (event) => `${JSON.stringify(event)}\n`;
  return (event) => eventLine(event, screenOf(), isOfAll(command));
}

/** Prints the events, and with `--follow` those that come, until a signal or until nobody reads. */
async function printEvents(
  store: Store,
  account: string | undefined,
  { after = '0', follow = false, limit = Infinity, type: types, order: externalOrderId }: EventsOptions,
  line: (event: FeedEvent) => string,
): Promise<void> {
  const clock = systemClock();
  const stop = follow ? stopSignal(clock) : new AbortController().signal;
  const places = new Map<string, Place>();
  for (const { account: name } of await feedHeads(store.db, account)) {
    places.set(name, await startOf(store, name, after));
  }
  if (account !== undefined && !places.has(account)) places.set(account, await startOf(store, account, after));
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
    if (!store.isInPlace()) {
      throw new StoreError(
        'disk',
        `${store.address} was moved or deleted while it was open; put it back and start again`,
      );
    }
  }
}

/** Of all accounts only those that have events which were not read. */
async function accountsToRead(
  { db }: Store,
  account: string | undefined,
  places: ReadonlyMap<string, Place>,
): Promise<readonly string[]> {
  if (account !== undefined) return [account];
  const heads = await feedHeads(db, undefined);
  return heads.filter((head) => head.id > (places.get(head.account)?.id ?? 0)).map((head) => head.account);
}

async function startOf({ db }: Store, account: string, after: string): Promise<Place> {
  const place = await placeOf(db, account, after);
  if ('reason' in place) throw new CommandError(EXIT.absent, place.message);
  return place;
}
