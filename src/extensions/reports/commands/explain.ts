import { Readable } from 'node:stream';
import { Option, type Command } from 'commander';
import { PLAIN } from '../../documents/terminal.ts';
import { absentOrder } from '../../commands/absent-order.ts';
import { withAccount } from '../../commands/store.ts';
import { systemClock } from '../../../base/clock.ts';
import type { AccountSettings } from '../../../settings/config.ts';
import { explain, storyJson } from '../story/read-story.ts';
import { wrapped, type Screen } from '../../../cli/shared/terminal.ts';
import { printable } from '../../../base/words.ts';
import { isCommand } from '../story/next.ts';
import type { Story } from '../story/story.ts';
import { EVERY_TICK } from '../../../orders/pass/pace.ts';
import { STATUS } from '../../api/addresses.ts';
import { readFromDaemon } from '../../api/asking/ask.ts';
import { extensionsOf, partsOf } from '../../../cli/shared/extensions.ts';
import { chooseFormat, isFolder, writeReport } from '../../commands/output.ts';
import { utcTime } from '../../commands/options.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { writePieces } from '../../commands/files.ts';
import { shownId } from '../../documents/headline.ts';
import { pasteable } from '../../../base/invocation.ts';
import { show } from '../../commands/print.ts';

const TIME_WIDTH = 26;
const FORMATS = ['table', 'json', 'html'] as const;

type ExplainOptions = Readonly<{ asOf?: string; format?: (typeof FORMATS)[number]; json?: boolean; out?: string }>;

export function define(command: Command): void {
  command
    .argument('<externalOrderId>')
    .option('--as-of <time>', 'the order as it was at this time (UTC, ISO 8601)', utcTime)
    .addOption(new Option('--format <format>', 'default: by the ending of --out, else table').choices(FORMATS))
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .option('--out <file>', 'write to a file, made readable for you alone, instead of stdout')
    .addHelpText('after', '\nExample:\n  order-sync orders explain shop-1001 --as-of 2026-01-31T12:00:00Z')
    .action(async (externalOrderId: string, { asOf, format, json: isJson, out }: ExplainOptions) => {
      if (isFolder(out)) command.error('error: --out is a folder: name a file');
      const chosen = chooseFormat(FORMATS, isJson === true ? 'json' : format, out) ?? 'table';
      const { story, document } = await withAccount(command, 'current', async (store, settings) => {
        // The clock is read after the database is opened, because opening makes the clock follow the database's time.
        const clock = systemClock();
        const until = asOf === undefined ? clock.now() : new Date(asOf);
        // The pace is loaded only if it is needed, because few orders need it and loading takes long.
        const paceOf = async () => (await partsOf(extensionsOf(command))).makePaces?.(1)(settings) ?? EVERY_TICK;
        const news = asOf === undefined ? await newsOf(command, settings, externalOrderId) : {};
        const found = await explain({ store, clock, settings, paceOf }, externalOrderId, until, news);
        return found ?? Promise.reject(await absentOrder(store.db, settings, externalOrderId));
      });
      if (chosen === 'html') await writeReport(document, { format: chosen, out });
      else if (chosen === 'table' && out === undefined) await show(asText(story, screenOf()));
      else {
        const json = `${JSON.stringify(storyJson(story), null, 2)}\n`;
        await writePieces(Readable.from([chosen === 'json' ? json : asText(story, PLAIN)]), out);
      }
    });
}

type DaemonStatus = {
  readonly overview: { readonly outOfReach: readonly { readonly reason: string | null }[] };
  readonly daemon: { readonly accounts: readonly { readonly keptBack: readonly KeptBack[] }[] } | null;
};
type KeptBack = Readonly<Record<'externalOrderId' | 'cause', string>>;

/** Returns facts of the present that only a daemon has. Without a daemon, every fact is undefined. */
async function newsOf(command: Command, settings: AccountSettings, externalOrderId: string) {
  const status = (await readFromDaemon(command, settings, STATUS, settings.account)) as DaemonStatus | undefined;
  const orders = status?.daemon?.accounts.flatMap(({ keptBack }) => keptBack) ?? [];
  const kept = orders.find((order) => order.externalOrderId === externalOrderId);
  return { kept, failure: status?.overview.outOfReach[0]?.reason ?? undefined };
}

function asText({ externalOrderId, asOf, headline, told, next }: Story, { width }: Screen): string {
  return [
    `Order ${printable(shownId(externalOrderId))} as of ${asOf}`,
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
