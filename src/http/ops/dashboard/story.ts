import { configOf } from '../../../config/config.ts';
import { storyOf } from '../../../flows/reports/story.ts';
import { orderForms } from '../../../reports/dashboard/forms.ts';
import { framed } from '../../../reports/dashboard/page.ts';
import type { Section } from '../../../reports/formats/document.ts';
import { contentText } from '../../../reports/formats/html.ts';
import type { StoryEvent } from '../../../reports/story/evidence.ts';
import { findingsOf } from '../../../store/findings.ts';
import { trackingOf } from '../../../store/order-columns.ts';
import { readOrder } from '../../../store/orders.ts';
import type { Pages } from './routes.ts';

/** The newest events of an order that its page lists. */
const MOST_EVENTS = 200;

/** Writes the story of an order as `orders explain` does, with its events, and the forms where a person may decide here. */
export async function storyPage(
  { deps, accounts, token }: Pages,
  account: string,
  externalOrderId: string,
): Promise<string | undefined> {
  const { store, clock, config } = deps;
  const told = await storyOf(store, configOf(config, account), externalOrderId, { asOf: clock.now() });
  if (told === undefined) return undefined;
  const sections = [...told.document.sections, eventsSection(told.evidence.events)];
  const forms = token === undefined ? '' : await formsOf(deps, { account, token }, externalOrderId);
  const main = (await Array.fromAsync(contentText({ ...told.document, sections }))).join('');
  const frame = {
    title: `Order ${externalOrderId} · order-sync`,
    account,
    accounts,
    isActionable: token !== undefined,
  };
  return framed(frame, `<div class="story-page">\n${main}${forms}</div>\n`);
}

async function formsOf(
  { store }: Pages['deps'],
  base: Parameters<typeof orderForms>[0],
  externalOrderId: string,
): Promise<string> {
  const row = await readOrder(store.db, base.account, externalOrderId);
  if (row === undefined) return '';
  return orderForms(base, trackingOf(row), await findingsOf(store.db, base.account, externalOrderId));
}

function eventsSection(events: readonly StoryEvent[]): Section {
  return {
    name: 'events',
    title: 'Events',
    lead: `As they were recorded, the newest first, at most ${MOST_EVENTS}.`,
    columns: [
      { key: 'at', label: 'At', kind: 'time' },
      { key: 'field', label: 'Field', kind: 'text' },
      { key: 'from', label: 'Old value', kind: 'text' },
      { key: 'to', label: 'New value', kind: 'text' },
      { key: 'source', label: 'Source', kind: 'text', rank: 1 },
      { key: 'reason', label: 'Reason', kind: 'text', rank: 1 },
      { key: 'actor', label: 'Person', kind: 'text', rank: 1 },
    ],
    rows: events
      .slice(-MOST_EVENTS)
      .toReversed()
      .map(({ observedAt: at, field, oldValue: from, newValue: to, source, reason, actor }) => ({
        at,
        field,
        from,
        to,
        source,
        reason,
        actor,
      })),
  };
}
