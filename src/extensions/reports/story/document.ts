import type { AmountSettings } from '../../../base/decimal.ts';
import { instantMs } from '../../../base/instant.ts';
import { findingClass } from '../../operate/finding-classes.ts';
import { toneOf } from '../../documents/document.ts';
import type { Card, Column, ReportDocument, Section, Verdict } from '../../documents/document.ts';
import { type Tone } from '../../../cli/shared/terminal.ts';
import { headlineTone, shownId, type HeadlineFacts } from '../../documents/headline.ts';
import { currencyOfRow, pairOf } from '../reconciliation/rows.ts';
import { evidenceAt, type StoryEvidence } from '../tables/story.ts';
import { decided } from './sentences.ts';
import { isCommand } from './next.ts';
import { beginOf, isOpen, type Story } from './story.ts';
import { capitalized, counted, inWords } from '../../documents/words.ts';

const GRAVITY: readonly Tone[] = ['error', 'warning', 'info', 'neutral', 'good'];

const TIMELINE: readonly Column[] = [
  { key: 'at', label: 'At (UTC)', kind: 'time' },
  { key: 'text', label: 'What happened', kind: 'text' },
];
const NEXT: readonly Column[] = [{ key: 'step', label: 'What', kind: 'text' }];
const FINDINGS: readonly Column[] = [
  { key: 'class', label: 'Finding', kind: 'text' },
  { key: 'severity', label: 'Severity', kind: 'severity' },
  { key: 'status', label: 'Status', kind: 'text' },
  { key: 'expected', label: 'Expected', kind: 'text' },
  { key: 'actual', label: 'Found', kind: 'text' },
  { key: 'first_seen_at', label: 'First seen (UTC)', kind: 'time', rank: 1 },
];

type StorySettings = Pick<AmountSettings, 'outputPosition'>;

export function storyDocument(story: Story, all: StoryEvidence, settings: StorySettings): ReportDocument {
  const { externalOrderId, asOf, state, told, next } = story;
  const evidence = evidenceAt(all, asOf);
  const { order, record } = evidence;
  const preOrderId = order.updated_at <= asOf ? order.pre_order_id : null;
  const orderId = record?.view?.orderId ?? null;
  const findings = evidence.findings.map((finding) => {
    const { class: name, severity, expected, actual, first_seen_at, resolved_at } = finding;
    const status = isOpen(finding) ? 'open' : resolved_at === null ? 'acknowledged' : 'resolved';
    return { class: name, severity, status, expected, actual, first_seen_at };
  });
  const steps = next.map((step) => (isCommand(step) ? step : withPageTimes(step)));
  const sections: readonly Section[] = [
    { name: 'next', title: 'What happens next', columns: NEXT, rows: steps.map((step) => ({ step })) },
    { name: 'findings', title: 'Findings', columns: FINDINGS, rows: findings },
    { name: 'timeline', title: 'What happened', empty: 'Nothing has happened yet.', columns: TIMELINE, rows: told },
  ];
  return {
    schema: null,
    title: `Order ${shownId(externalOrderId)}`,
    verdict: verdictOf({ ...story, headline: withPageTimes(story.headline) }, evidence),
    cards: [
      ...(state === null ? [] : cardsOf({ ...story, state }, evidence, settings)),
      ...(preOrderId === null ? [] : [{ label: 'Pre-order', value: preOrderId }]),
      ...(orderId === null ? [] : [{ label: 'Order at the exchange', value: orderId }]),
    ],
    facts: [
      { key: 'as_of', label: 'As of', value: asOf },
      { key: 'external_order_id', label: 'External order id', value: externalOrderId },
      { key: 'state', label: 'State', value: state },
      { key: 'pre_order_id', label: 'Pre-order', value: preOrderId },
      { key: 'order_id', label: 'Order at the exchange', value: orderId },
    ],
    sections: sections.filter(({ name }) => name !== 'findings' || findings.length > 0),
    charts: [],
  };
}

function withPageTimes(text: string): string {
  return text.replaceAll(/\b(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z/g, '$1 $2 UTC');
}

function verdictOf({ state, outcome, headline }: Story, { order, events, findings }: StoryEvidence): Verdict {
  if (state === null) return { tone: 'neutral', text: headline, reasons: [] };
  const tone = headlineTone({ state, outcome });
  const newest = events.findLast(({ field }) => field === 'state');
  const reason = newest?.reason ?? null;
  const why = newest?.source === 'operator' ? decided(newest, { order }) : `${capitalized(reason ?? '')}.`;
  const open = findings.filter(isOpen);
  const tones = [tone, ...open.map(({ severity }) => toneOf('severity', severity))];
  return {
    tone: GRAVITY.find((one) => tones.includes(one)) ?? tone,
    text: open.length === 0 ? headline : `${headline}. ${counted(open.length, 'finding is', 'findings are')} open.`,
    reasons: [
      ...(reason === null ? [] : [why.replace(/([.!?])\.$/, '$1')]),
      ...new Set(open.map(({ class: name }) => findingClass(name)?.meaning ?? `Finding ${name}.`)),
    ],
  };
}

function cardsOf(facts: Story & HeadlineFacts, { order, events }: StoryEvidence, settings: StorySettings): Card[] {
  const { state, asOf } = facts;
  const currency = currencyOfRow(order, settings);
  const pair = pairOf(order);
  const sinceMs = instantMs(beginOf(events)?.observed_at ?? order.created_at);
  const since = sinceMs === undefined ? {} : { note: `for ${inWords((instantMs(asOf) ?? 0) - sinceMs)}` };
  return [
    { label: 'State', value: state, tone: headlineTone(facts), ...since, section: 'timeline' },
    {
      label: 'Amount',
      value: `${order.asset ?? 'none'} ${currency ?? ''}`.trim(),
      note: currency === null ? `${pair}, position ${order.asset_position}: currency not shown` : pair,
    },
  ];
}
