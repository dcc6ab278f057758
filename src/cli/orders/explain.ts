import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { preOrderIdsIn } from '../../exchange/ids.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import { printable } from '../../reports/formats/text.ts';
import { buildStory, type Story } from '../../reports/story/story.ts';
import { readStory } from '../../store/reports/story.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { ACCOUNT } from '../shared/options.ts';
import { utcTime } from '../shared/period.ts';
import { withStore } from '../shared/store.ts';

/** `order-sync orders explain`: the story of one order. */
export function define(command: Command): void {
  command
    .argument('<externalOrderId>')
    .option('--as-of <time>', 'as it was at this time (UTC, ISO 8601)', utcTime)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync orders explain shop-1001 --as-of 2026-01-31T12:00:00Z')
    .action(async (externalOrderId: string, { asOf, json }: { asOf?: string; json?: boolean }) => {
      const until = asOf === undefined ? systemClock().now() : new Date(asOf);
      const story = await withStore(command, 'current', async (store, { create, follow }) => {
        const rows = readStory(store, ACCOUNT, externalOrderId);
        if (rows === undefined) {
          throw new CommandError(EXIT.absent, `there is no order ${JSON.stringify(externalOrderId)} in the table`);
        }
        const view = rows.record === null ? undefined : readRecordView(rows.record.body);
        const record = rows.record === null || view === undefined ? null : { ...rows.record, view };
        const keptAnswers = rows.keptAnswers.map(({ body, ...kept }) => ({ ...kept, ids: preOrderIdsIn(body) }));
        return buildStory({ ...rows, record, keptAnswers }, until, { ...create, ...follow });
      });
      process.stdout.write(
        json === true ? `${JSON.stringify({ schema: 'order-sync.story/1', ...story }, null, 2)}\n` : asText(story),
      );
    });
}

function asText({ externalOrderId, asOf, state, told, next }: Story): string {
  return [
    `Order ${printable(externalOrderId)} at ${asOf}: ${state ?? 'not there'}`,
    '',
    ...told.map(({ at, text }) => `${printable(at)}  ${printable(text)}`),
    ...(told.length === 0 ? [] : ['']),
    'What happens next:',
    ...next.map((line) => `  ${printable(line)}`),
    '',
  ].join('\n');
}
