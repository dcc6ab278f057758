import type { Command } from 'commander';
import { styled } from '../../reports/formats/terminal/screen.ts';
import { readOrder } from '../../store/orders.ts';
import { readRecord } from '../../store/order-records.ts';
import { readPreOrder } from '../../store/pre-orders.ts';
import type { Database } from '../../store/port.ts';
import { orderEvents } from '../../store/events.ts';
import { answerText } from '../shared/answer.ts';
import { rowWithHistory } from '../shared/history.ts';
import { screenOf } from '../shared/screen.ts';
import { withAccount } from '../shared/store.ts';
import { withoutTokens } from '../../exchange/hidden.ts';
import { REVEAL, withoutToken } from '../shared/tokens.ts';
import { absentOrder } from './absent.ts';

/** `order-sync orders show`. */
export function define(command: Command): void {
  command
    .argument('<externalOrderId>')
    .option('--json', 'print JSON')
    .option(...REVEAL)
    .addHelpText('after', '\nExample:\n  order-sync orders show shop-1001')
    .action(async (externalOrderId: string, { json, reveal }: { json?: boolean; reveal?: boolean }) => {
      const all = await withAccount(command, 'current', async ({ db }, settings) => {
        const found = await readAll(db, settings.account, externalOrderId);
        if (found === undefined) throw await absentOrder(db, settings, externalOrderId);
        return found;
      });
      const shown = reveal === true ? all : hidden(all);
      process.stdout.write(json === true ? `${JSON.stringify(shown, null, 2)}\n` : asSections(shown));
    });
}

/** Everything the database has of one order. Bodies stay text: parsing them here would round their amounts. */
async function readAll(db: Database, account: string, externalOrderId: string) {
  const order = await readOrder(db, account, externalOrderId);
  if (order === undefined) return undefined;
  const events = await orderEvents(db, account, externalOrderId);
  const preOrder = (await readPreOrder(db, account, externalOrderId)) ?? null;
  const record = (await readRecord(db, account, externalOrderId))?.body ?? null;
  return { order, events, preOrder, record };
}

type Everything = NonNullable<Awaited<ReturnType<typeof readAll>>>;

function hidden({ order, events, preOrder, record }: Everything): Everything {
  const shown = (body: string | null) => (body === null ? null : withoutTokens(body));
  return { order: withoutToken(order), events, preOrder: shown(preOrder), record: shown(record) };
}

function asSections({ order, events, preOrder, record }: Everything): string {
  const screen = screenOf();
  const answer = (name: string, body: string | null) =>
    body === null
      ? `\n${name}: none\n`
      : `\n${styled('bold', `${name}, as received`, screen)}\n${answerText(body, screen)}`;
  return rowWithHistory(order, events) + answer('pre-order', preOrder) + answer('record', record);
}
