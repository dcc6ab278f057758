import { describeKeptBack } from '../../../../accounts/rules/restraints.ts';
import { configOf } from '../../../../settings/config.ts';
import { trackingOf } from '../../../../store/orders/order-columns.ts';
import { readOrder } from '../../../../store/orders/orders.ts';
import { findingsOf } from '../../../../store/tables/findings.ts';
import type { Column, Section } from '../../../documents/document.ts';
import { contentText } from '../../../documents/html.ts';
import { escapeText, proseText } from '../../../documents/html/cells.ts';
import { isCommand } from '../../../reports/story/next.ts';
import { storyOf } from '../../../reports/story/read-story.ts';
import type { StoryEvent } from '../../../reports/tables/story.ts';
import type { OpsPages } from '../../ops/readings.ts';
import { Refused } from '../actions.ts';
import { orderForms, type OrderForms } from '../forms.ts';
import { commandText } from '../markup.ts';

const MOST_EVENTS = 200;
const EVENT_COLUMNS: readonly Column[] = [
  { key: 'observed_at', label: 'At', kind: 'time' },
  { key: 'field', label: 'Field', kind: 'text' },
  { key: 'old_value', label: 'Old value', kind: 'text' },
  { key: 'new_value', label: 'New value', kind: 'text' },
  { key: 'source', label: 'Source', kind: 'text', rank: 1 },
  { key: 'reason', label: 'Reason', kind: 'text', rank: 1 },
  { key: 'actor', label: 'Person', kind: 'text', rank: 1 },
];

/**
 * Writes the page of an order: the story as `orders explain` tells it, with what a person may decide before all else, and its
 * events. With `token` a person decides by forms, without it by commands.
 */
export async function orderText(
  deps: OpsPages,
  account: string,
  id: string,
  token: string | undefined,
): Promise<string> {
  const { store, clock, config, activities } = deps;
  const asOf = clock.now();
  const kept = activities
    .find(account)
    ?.keptBack(asOf)
    .find(({ externalOrderId }) => externalOrderId === id);
  const told = await storyOf(store, configOf(config, account), id, { asOf, blocked: kept && describeKeptBack(kept) });
  const row = await readOrder(store.db, account, id);
  if (told === undefined || row === undefined) {
    throw new Refused(404, `The account ${account} has no order ${id}.`, 'Check the id, or search for its beginning.');
  }
  const forms =
    token === undefined
      ? undefined
      : orderForms({ account, token }, trackingOf(row), await findingsOf(store.db, account, id));
  const sections = told.document.sections.filter(({ name }) => name !== 'next');
  const document = { ...told.document, sections: [...sections, eventsSection(told.evidence.events)] };
  const name = `<p class="id">External order id: <code data-copy="${escapeText(id)}">${escapeText(id)}</code></p>\n`;
  const main = await Array.fromAsync(contentText(document, `${name}${nextText(told.story.next, forms)}`));
  return `<div class="story-page">\n${main.join('')}</div>\n`;
}

/** Says what happens next. A form stands in place of the commands that do the same. */
function nextText(next: readonly string[], forms: OrderForms | undefined): string {
  const parts = next.map((line) => {
    if (!isCommand(line)) return `<p>${proseText(line)}</p>\n`;
    const form = line.startsWith('order-sync orders ')
      ? forms?.decision
      : line.startsWith('order-sync findings ')
        ? forms?.acknowledge
        : undefined;
    return form ?? `<p class="command">${commandText(line)}</p>\n`;
  });
  const told = parts.filter((part, index) => parts.indexOf(part) === index);
  return `<section class="actions" aria-labelledby="next-title"><h2 id="next-title">What happens next</h2>\n${told.join('')}</section>\n`;
}

function eventsSection(events: readonly StoryEvent[]): Section {
  const lead = `As they were recorded, the newest first, at most ${MOST_EVENTS}.`;
  const newest = events.slice(-MOST_EVENTS).toReversed();
  return { name: 'events', title: 'Events', lead, columns: EVENT_COLUMNS, rows: newest.map((event) => ({ ...event })) };
}
