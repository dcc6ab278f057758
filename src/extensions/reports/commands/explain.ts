import { Readable } from 'node:stream';
import { Option, type Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import type { AccountSettings } from '../../../settings/config.ts';
import { describeKeptBack, stopRemedy } from '../../../accounts/rules/restraints.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { storyOf } from '../story/read-story.ts';
import { PLAIN, wrapped, type Screen } from '../../../cli/shared/terminal.ts';
import { printable } from '../../../base/words.ts';
import { isCommand, type Spacing } from '../story/next.ts';
import type { Story } from '../story/story.ts';
import { STATUS } from '../../api/addresses.ts';
import { readFromDaemon } from '../../api/asking/ask.ts';
import { EVERY_TICK } from '../../../orders/pass/pace.ts';
import { statusName } from '../../../orders/rules/lookup.ts';
import { isPaced } from '../../../orders/rules/states.ts';
import { trackingOf } from '../../../store/orders/order-columns.ts';
import { readOrder } from '../../../store/orders/orders.ts';
import type { Store } from '../../../store/port.ts';
import { extensionsOf, partsOf } from '../../../cli/shared/extensions.ts';
import { chooseFormat, isFolder, writeReport } from '../../documents/commands/output.ts';
import { utcTime } from '../../documents/commands/options.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { withAccount, absentOrder } from '../../../cli/shared/store.ts';
import { writePieces } from '../../documents/commands/files.ts';
import { pasteable } from '../../../base/invocation.ts';
import { show } from '../../documents/commands/print.ts';

const TIME_WIDTH = 26;
const FORMATS = ['table', 'json', 'html'] as const;

interface ExplainOptions {
  readonly asOf?: string;
  readonly format?: (typeof FORMATS)[number];
  readonly json?: boolean;
  readonly out?: string;
}

export function define(command: Command): void {
  command
    .argument('<externalOrderId>')
    .option('--as-of <time>', 'as it was at this time (UTC, ISO 8601)', utcTime)
    .addOption(new Option('--format <format>', 'unless given, the name of --out tells it').choices(FORMATS))
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .option('--out <file>', 'write to a file, made readable for you alone, instead of stdout')
    .addHelpText('after', '\nExample:\n  order-sync orders explain shop-1001 --as-of 2026-01-31T12:00:00Z')
    .action(async (externalOrderId: string, { asOf, format: given, json: isJson, out }: ExplainOptions) => {
      if (isFolder(out)) command.error('error: --out is a folder: name a file');
      const format = chooseFormat(FORMATS, isJson === true ? 'json' : given, out) ?? 'table';
      const { story, document } = await withAccount(command, 'current', async (store, settings) => {
        // The clock follows the database once that is open.
        const until = asOf === undefined ? systemClock().now() : new Date(asOf);
        const found = await storyOf(store, settings, externalOrderId, {
          asOf: until,
          readSpacing: () => spacingOf(command, store, settings, { externalOrderId, asOf: until }),
          blocked: (await olderStateOf(store)) ?? (await keptBackOf(command, asOf, settings, externalOrderId)),
        });
        return found ?? Promise.reject(await absentOrder(store.db, settings, externalOrderId));
      });
      if (format === 'html') await writeReport(document, { format, out });
      else if (format === 'table' && out === undefined) await show(asText(story, screenOf()));
      else {
        const json = `${JSON.stringify({ schema: 'order-sync.story/1', ...story, next: story.next.map(pasteable) }, null, 2)}\n`;
        await writePieces(Readable.from([format === 'json' ? json : asText(story, PLAIN)]), out);
      }
    });
}

async function spacingOf(
  command: Command,
  store: Store,
  settings: AccountSettings,
  { externalOrderId, asOf }: { readonly externalOrderId: string; readonly asOf: Date },
): Promise<Spacing | undefined> {
  const { account } = settings;
  const row = await readOrder(store.db, account, externalOrderId);
  const order = row && trackingOf(row);
  if (order === undefined || order.changedAt === null || !isPaced(order.state)) return undefined;
  const { makePaces } = await partsOf(extensionsOf(command));
  const pace = makePaces?.(1)(settings) ?? EVERY_TICK;
  const forMs = Math.max(0, asOf.getTime() - order.changedAt.getTime());
  const { signal } = new AbortController();
  const { kind, text, learned } = await pace.explain({ account, store, clock: systemClock() }, order, forMs, signal);
  return { facts: { kind, status: statusName(order), since: row?.changed_at, ...learned }, text };
}

/** The part of a status that tells which orders a daemon cannot write. */
interface DaemonStatus {
  readonly daemon: {
    readonly accounts: readonly {
      readonly keptBack: readonly Readonly<Record<'externalOrderId' | 'cause', string>>[];
    }[];
  } | null;
}

/** Of the past no daemon tells what it could not write. */
async function keptBackOf(
  command: Command,
  asOf: string | undefined,
  settings: AccountSettings,
  externalOrderId: string,
) {
  if (asOf !== undefined) return undefined;
  const status = (await readFromDaemon(command, settings, STATUS, settings.account)) as DaemonStatus | undefined;
  const orders = status?.daemon?.accounts.flatMap(({ keptBack }) => keptBack) ?? [];
  const kept = orders.find((order) => order.externalOrderId === externalOrderId);
  return kept && describeKeptBack(kept);
}

/** Ignores a mark that cannot be read. */
async function olderStateOf({ mark }: Store) {
  const sign = await mark.sign().catch(() => undefined);
  if (sign === undefined) return undefined;
  const words = mark.account === undefined ? '' : accountWords(mark.account);
  return { why: `the database ${sign}`, remedy: stopRemedy('older-state', words) };
}

function asText({ externalOrderId, asOf, headline, told, next }: Story, { width }: Screen): string {
  return [
    `Order ${printable(externalOrderId)} as of ${asOf}`,
    wrapped(`${headline}.`, width),
    '',
    ...told.map(({ at, text }) => `${printable(at)}  ${wrapped(printable(text), width, TIME_WIDTH)}`),
    ...(told.length === 0 ? [] : ['']),
    'What happens next:',
    ...next.map((line) =>
      isCommand(line) ? `    ${printable(pasteable(line))}` : `  ${wrapped(printable(pasteable(line)), width, 2)}`,
    ),
    '',
  ].join('\n');
}
