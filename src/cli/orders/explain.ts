import { Option, type Command } from 'commander';
import { systemClock } from '../../clock.ts';
import type { AccountSettings } from '../../config/config.ts';
import { preOrderIdsIn } from '../../exchange/ids.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import { flowSettings } from '../../flows/pass/settings.ts';
import { paceOfOrder } from '../../flows/reports/following.ts';
import { PLAIN, wrapped, type Screen } from '../../reports/formats/terminal/screen.ts';
import { printable } from '../../reports/formats/text.ts';
import { isCommand } from '../../reports/story/commands.ts';
import { storyDocument } from '../../reports/story/document.ts';
import type { StoryEvidence } from '../../reports/story/evidence.ts';
import { isNewest } from '../../reports/story/next.ts';
import { buildStory, type Story } from '../../reports/story/story.ts';
import type { Store } from '../../store/port.ts';
import { readStory } from '../../store/reports/story.ts';
import { chooseFormat, isFolder, writeReport } from '../report/output.ts';
import { utcTime } from '../shared/period.ts';
import { screenOf } from '../shared/screen.ts';
import { withAccount } from '../shared/store.ts';
import { writePieces, type Pieces } from '../shared/write.ts';
import { absentOrder } from './absent.ts';

/** Of a time, and the space that follows. */
const TIME_WIDTH = 26;
const FORMATS = ['table', 'json', 'html'] as const;

interface ExplainOptions {
  readonly asOf?: string;
  readonly format?: (typeof FORMATS)[number];
  readonly json?: boolean;
  readonly out?: string;
}

/** `order-sync orders explain`: the story of one order. */
export function define(command: Command): void {
  command
    .argument('<externalOrderId>')
    .option('--as-of <time>', 'as it was at this time (UTC, ISO 8601)', utcTime)
    .addOption(new Option('--format <format>', 'unless given, the name of --out tells it').choices(FORMATS))
    .addOption(new Option('--json', 'the same as --format json').conflicts('format'))
    .option('--out <file>', 'write to a file, made readable for you alone, instead of stdout')
    .addHelpText('after', '\nExample:\n  order-sync orders explain shop-1001 --as-of 2026-01-31T12:00:00Z')
    .action(async (externalOrderId: string, { asOf, format: given, json, out }: ExplainOptions) => {
      if (isFolder(out)) command.error('error: --out is a folder: name a file');
      const format = chooseFormat(FORMATS, json === true ? 'json' : given, out) ?? 'table';
      const until = asOf === undefined ? systemClock().now() : new Date(asOf);
      const { story, document } = await withAccount(command, 'current', async (store, settings) => {
        const { account, accounts, create, follow, exchange } = settings;
        const evidence = await evidenceOf(store, settings, externalOrderId, until);
        if (evidence === undefined) throw await absentOrder(store.db, settings, externalOrderId);
        const isDriven = accounts.some(({ name }) => name === account);
        const told = buildStory(evidence, until, { ...create, ...follow, isDriven });
        return { story: told, document: storyDocument(told, evidence, exchange) };
      });
      if (format === 'html') await writeReport(document, out === undefined ? { format } : { format, out });
      else {
        const screen = out === undefined ? screenOf() : PLAIN;
        await writePieces(asPieces(format === 'json' ? asJson(story) : asText(story, screen)), out);
      }
    });
}

async function evidenceOf(
  store: Store,
  settings: AccountSettings,
  externalOrderId: string,
  asOf: Date,
): Promise<StoryEvidence | undefined> {
  const { account } = settings;
  const rows = await readStory(store, account, externalOrderId);
  if (rows === undefined) return undefined;
  const record = rows.record && { ...rows.record, view: readRecordView(rows.record.body) };
  const keptAnswers = rows.keptAnswers.map(({ body, ...kept }) => ({ ...kept, ids: preOrderIdsIn(body) }));
  // Of the past nobody tells the pace.
  if (!isNewest({ order: rows.order, asOf })) return { ...rows, record, keptAnswers };
  const { pace } = flowSettings(settings);
  const following = { account, store, clock: systemClock(), pace };
  const { signal } = new AbortController();
  return { ...rows, record, keptAnswers, pace: await paceOfOrder(following, rows.order, signal) };
}

function asJson(story: Story): string {
  return `${JSON.stringify({ schema: 'order-sync.story/1', ...story }, null, 2)}\n`;
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

async function* asPieces(text: string): Pieces {
  yield text;
}
