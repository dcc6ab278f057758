import { describe, expect, it } from 'vitest';
import type { Row, Tone } from '../../../../src/extensions/documents/document.ts';
import { storyDocument } from '../../../../src/extensions/reports/story/document.ts';
import type { StoryEvidence, StoryFinding } from '../../../../src/extensions/reports/story/next.ts';
import { buildStory } from '../../../../src/extensions/reports/story/story.ts';
import { SETTINGS } from '../../../support/tracking.ts';

const CREATED = '2026-01-05T12:00:00.000Z';
const CHANGED = '2026-01-05T13:00:00.000Z';
const AS_OF = new Date('2026-01-05T15:00:00.000Z');
const EVIDENCE: StoryEvidence = {
  order: {
    account: 'default',
    externalOrderId: 'a',
    createdAt: CREATED,
    updatedAt: CHANGED,
    nextActionAt: null,
    lastLookupAt: null,
    preOrderId: 'p1',
    asset: '1.50',
    assetPosition: 'INPUT',
    fromCurrency: 'BTC',
    toCurrency: 'EUR',
    verifications: 0,
    outcome: null,
    adoptedAt: null,
  },
  events: [],
  record: null,
  keptAnswers: [],
  findings: [],
  holds: [],
  stop: null,
};
const FINDING: StoryFinding = {
  class: 'AMOUNT_MISMATCH',
  severity: 'error',
  expected: '1.5',
  actual: '1.6',
  firstSeenAt: CHANGED,
  lastSeenAt: CHANGED,
  resolvedAt: null,
  changedBy: null,
  changedAt: null,
  reason: null,
};

function pageOf(state: string, changes: Partial<StoryEvidence> = {}, order = {}, asOf = AS_OF) {
  const moved = { field: 'state', oldValue: 'pending', newValue: state, observedAt: CHANGED, exchangeTime: null };
  const events = state === 'pending' ? [] : [{ ...moved, source: 'create', reason: 'a reason', actor: null }];
  const evidence = { ...EVIDENCE, events, ...changes, order: { ...EVIDENCE.order, ...order } };
  return storyDocument(buildStory(evidence, asOf, SETTINGS), evidence, {});
}

describe('the page of an order', () => {
  it.each<[string, string | null, Tone]>([
    ['final', 'succeeded', 'good'],
    ['final', 'failed', 'warning'],
    ['held', null, 'error'],
    ['disputed', null, 'error'],
    ['open', null, 'info'],
    ['pending', null, 'neutral'],
  ])('says how it stands: %s, %s', (state, outcome, tone) => {
    expect(pageOf(state, {}, { outcome }).verdict).toMatchObject({ tone });
  });

  it('gives the reason of the state, and what each open finding means', () => {
    const { verdict, sections } = pageOf('final', { findings: [FINDING] }, { outcome: 'succeeded' });
    expect(verdict).toMatchObject({ tone: 'error', text: expect.stringContaining('1 finding is open') as string });
    expect(verdict?.reasons).toEqual(['A reason.', expect.any(String)]);
    expect(sections.map(({ name }) => name)).toEqual(['next', 'findings', 'timeline']);
  });

  it('has each command beside the sentence that it follows, and no column for commands where there is none', () => {
    const columns = (state: string) => pageOf(state).sections[0]?.columns.map(({ key }) => key);
    expect([columns('final'), columns('disputed')]).toEqual([['step'], ['step', 'command']]);

    const rows = pageOf('disputed').sections[0]?.rows as Iterable<Row>;
    const commands = [...rows].filter(({ command }) => command !== null);
    expect(commands).toEqual([
      { step: 'To see what the exchange answers now:', command: 'order-sync lookup a' },
      { step: 'A person must decide:', command: 'order-sync orders resolve a --as ours --reason TEXT' },
      { step: '', command: 'order-sync orders resolve a --as abandoned --reason TEXT' },
    ]);
  });

  it('shows the amount in its currency, and names none where nobody knows which of the pair it is', () => {
    const amount = (assetPosition: string) =>
      pageOf('open', {}, { assetPosition }).cards?.find(({ label }) => label === 'Amount');
    expect(amount('INPUT')).toMatchObject({ value: '1.50 BTC', note: 'BTC/EUR' });
    expect(amount('OUTPUT')).toMatchObject({ value: '1.50', note: 'BTC/EUR, position OUTPUT: currency not shown' });
  });

  it('of a moment has nothing that came later', () => {
    const findings = [{ ...FINDING, firstSeenAt: AS_OF.toISOString() }];
    const { facts, sections } = pageOf('open', { findings }, {}, new Date('2026-01-05T12:30:00.000Z'));
    expect(Object.fromEntries(facts.map(({ key, value }) => [key, value]))).toMatchObject({
      state: 'pending',
      pre_order_id: null,
    });
    expect(sections.map(({ name }) => name)).toEqual(['next', 'timeline']);
    expect(pageOf('open', {}, {}, new Date('2026-01-05T11:00:00.000Z')).verdict).toMatchObject({ tone: 'neutral' });
  });
});
