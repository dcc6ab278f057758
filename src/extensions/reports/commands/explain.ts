import { Readable } from 'node:stream';
import { Option, type Command } from 'commander';
import { systemClock } from '../../../base/clock.ts';
import type { AccountSettings } from '../../../settings/config.ts';
import { stopRemedy } from '../../../accounts/rules/restraints.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { learningPaces } from '../../pace/follow-pace.ts';
import { paceOfOrder, storyOf, type ReadPace } from '../story/read-story.ts';
import { PLAIN, wrapped, type Screen } from '../../documents/terminal.ts';
import { printable } from '../../../base/words.ts';
import { isCommand, isNewest } from '../story/next.ts';
import type { Story } from '../story/story.ts';
import { askDaemon } from '../../health/status/ask.ts';
import type { Store } from '../../../store/port.ts';
import { chooseFormat, isFolder, writeReport } from './output.ts';
import { utcTime } from '../../../cli/shared/options.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { withAccount, absentOrder } from '../../../cli/shared/store.ts';
import { writePieces } from '../../../cli/shared/files.ts';

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
        const daemon = asOf === undefined ? (await askDaemon(settings, settings.account))?.daemon : undefined;
        const found = await storyOf(store, settings, externalOrderId, {
          asOf: until,
          readPace: paceIn(store, settings, until),
          olderState: await olderStateOf(store),
          // Orders that the daemon of the account cannot write.
          keptBack: daemon?.accounts.flatMap(({ keptBack }) => keptBack) ?? [],
        });
        return found ?? Promise.reject(await absentOrder(store.db, settings, externalOrderId));
      });
      if (format === 'html') await writeReport(document, { format, out });
      else {
        const screen = out === undefined ? screenOf() : PLAIN;
        const json = `${JSON.stringify({ schema: 'order-sync.story/1', ...story }, null, 2)}\n`;
        await writePieces(Readable.from([format === 'json' ? json : asText(story, screen)]), out);
      }
    });
}

function paceIn(store: Store, settings: AccountSettings, asOf: Date): ReadPace {
  const { account } = settings;
  const pace = learningPaces(1)(settings);
  const { signal } = new AbortController();
  return async (order) => {
    // Of the past nobody tells the pace.
    if (!isNewest({ order, asOf })) return undefined;
    return await paceOfOrder({ account, store, clock: systemClock(), pace }, order, signal);
  };
}

/** Ignores a mark that cannot be read. */
async function olderStateOf({ mark }: Store) {
  const sign = await mark.sign().catch(() => undefined);
  if (sign === undefined) return undefined;
  const words = mark.account === undefined ? '' : accountWords(mark.account);
  return { why: `the database ${sign}`, remedy: stopRemedy('older-state', words) };
}

function asText({ externalOrderId, asOf, state, told, next }: Story, { width }: Screen): string {
  return [
    `Order ${printable(externalOrderId)} at ${asOf}: ${state ?? 'not there'}`,
    '',
    ...told.map(({ at, text }) => `${printable(at)}  ${wrapped(printable(text), width, TIME_WIDTH)}`),
    ...(told.length === 0 ? [] : ['']),
    'What happens next:',
    ...next.map((line) => (isCommand(line) ? `    ${printable(line)}` : `  ${wrapped(printable(line), width, 2)}`)),
    '',
  ].join('\n');
}
