import { describeKeptBack } from '../../../operate/rules/problems.ts';
import { configOf } from '../../../../settings/config.ts';
import { trackingOf } from '../../../../store/orders/order-columns.ts';
import { readOrder } from '../../../../store/orders/orders.ts';
import { findingsOf } from '../../../../store/tables/findings.ts';
import { contentText } from '../../../documents/html.ts';
import { commandText, escapeText, proseText } from '../../../documents/html/cells.ts';
import { EFFECTS, isCommand } from '../../../reports/story/next.ts';
import { storyOf } from '../../../reports/story/read-story.ts';
import type { OpsPages } from '../../ops/readings.ts';
import { Refused } from '../actions.ts';
import { orderForms } from '../forms.ts';
import type { Words } from '../markup.ts';

export async function orderText(deps: OpsPages, account: string, id: string, token?: string): Promise<string> {
  const { store, clock, config, activities } = deps;
  const asOf = clock.now();
  const { kept, failure } = activities.find(account)?.newsOf(id, asOf) ?? {};
  const blocked = kept && describeKeptBack(kept);
  const found = await storyOf(store, configOf(config, account), id, { asOf, blocked, failure });
  const row = await readOrder(store.db, account, id);
  if (found === undefined || row === undefined) {
    throw new Refused(404, `The account ${account} has no order ${id}.`, 'Check the id, or search for its beginning.');
  }
  const findings = await findingsOf(store.db, account, id);
  const forms: Words = token === undefined ? {} : orderForms({ account, token }, trackingOf(row), findings);
  const sections = found.document.sections.filter(({ name }) => name !== 'next');
  const document = { ...found.document, facts: [], sections };
  const main = await Array.fromAsync(contentText(document, nextText(id, found.story.next, forms)));
  return `<div class="story-page">\n${main.join('')}</div>\n`;
}

/** Matches times after a blank. A time in quotes is a value of the exchange, and stays as received. */
const TIMES = /(?<=\s)(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.\d{3}Z/g;

function nextText(id: string, next: readonly string[], forms: Words): string {
  const shown = Object.keys(forms).length === 0 ? next : next.filter((line) => !EFFECTS.includes(line));
  const parts = shown.map((line) => {
    if (!isCommand(line)) return `<p>${proseText(line.replaceAll(TIMES, '$1 $2 UTC'))}</p>\n`;
    const form = Object.entries(forms).find(([command]) => line.startsWith(`order-sync ${command} `))?.[1];
    return form ?? `<p>${commandText(line)}</p>\n`;
  });
  return `<p class="id">External order id: <code data-copy="${escapeText(id)}">${escapeText(id)}</code></p>
<section class="actions" aria-labelledby="next-title"><h2 id="next-title">What happens next</h2>\n${[...new Set(parts)].join('')}</section>\n`;
}
