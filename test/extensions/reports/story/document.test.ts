import { describe, expect, it } from 'vitest';
import type { Row } from '../../../../src/extensions/documents/document.ts';
import type { Tone } from '../../../../src/cli/shared/terminal.ts';
import { storyDocument } from '../../../../src/extensions/reports/story/document.ts';
import { buildStory } from '../../../../src/extensions/reports/story/story.ts';
import type { StoryEvidence, StoryFinding } from '../../../../src/extensions/reports/tables/story.ts';
import { SETTINGS } from '../../../support/tracking.ts';

const CREATED = '2026-01-05T12:00:00.000Z';
const CHANGED = '2026-01-05T13:00:00.000Z';
const AS_OF = new Date('2026-01-05T15:00:00.000Z');
const EVIDENCE: StoryEvidence = {
  order: {
    account: 'default',
    external_order_id: 'a',
    revision: 1,
    created_at: CREATED,
    updated_at: CHANGED,
    next_action_at: null,
    last_lookup_at: null,
    pre_order_id: 'p1',
    asset: '1.50',
    asset_position: 'INPUT',
    from_currency: 'BTC',
    to_currency: 'EUR',
    verifications: 0,
    outcome: null,
    adopted_at: null,
    sent_at: null,
    absent_at: null,
  },
  events: [],
  record: null,
  keptAnswers: [],
  findings: [],
  holds: [],
  stop: null,
};
const FINDING: StoryFinding = {
  id: 1,
  class: 'AMOUNT_MISMATCH',
  severity: 'error',
  expected: '1.5',
  actual: '1.6',
  first_seen_at: CHANGED,
  last_seen_at: CHANGED,
  resolved_at: null,
  changed_by: null,
  changed_at: null,
  reason: null,
};

function pageOf(state: string, changes: Partial<StoryEvidence> = {}, order = {}, asOf = AS_OF) {
  const moved = { field: 'state', old_value: 'pending', new_value: state, observed_at: CHANGED, exchange_time: null };
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

  it('shows the reason of the state, and the meaning of each open finding', () => {
    const { verdict, sections } = pageOf('final', { findings: [FINDING] }, { outcome: 'succeeded' });
    expect(verdict).toMatchObject({ tone: 'error', text: expect.stringContaining('1 finding is open') as string });
    expect(verdict?.reasons).toEqual(['A reason.', expect.any(String)]);
    expect(sections.map(({ name }) => name)).toEqual(['next', 'findings', 'timeline']);
    // The advice about them stands in the first section alone.
    expect(sections[1]?.columns.some(({ key }) => key === 'advice')).toBe(false);
  });

  it('has the reason of a person as theirs', () => {
    const moved = {
      field: 'state',
      old_value: 'disputed',
      new_value: 'open',
      observed_at: CHANGED,
      exchange_time: null,
    };
    const events = [{ ...moved, source: 'operator', reason: 'it was agreed', actor: 'anna' }];
    expect(pageOf('open', { events }).verdict?.reasons).toEqual([expect.stringMatching(/^anna .*: it was agreed\.$/)]);
  });

  it('has times as the other times of a page are, in its headline and in what happens next', () => {
    const { verdict, sections } = pageOf('open', {}, { next_action_at: '2026-01-05T16:00:00.000Z' });
    expect(verdict?.text).toContain('since 2026-01-05 13:00:00 UTC');
    const next = sections[0]?.rows as readonly Row[];
    expect(next.map(({ step }) => step).join()).toContain('next at 2026-01-05 16:00:00 UTC');
  });

  it('has each sentence and each command on a line', () => {
    const next = pageOf('disputed').sections[0]?.rows as readonly Row[];
    const rows = next.map(({ step }) => step);
    expect(rows).toContain('A person must decide:');
    expect(rows).toContain('order-sync orders resolve a --as ours --reason TEXT');
  });

  it('shows the amount in its currency, and names none if it is not known which of the pair it is', () => {
    const amount = (asset_position: string) =>
      pageOf('open', {}, { asset_position }).cards?.find(({ label }) => label === 'Amount');
    expect(amount('INPUT')).toMatchObject({ value: '1.50 BTC', note: 'BTC/EUR' });
    expect(amount('OUTPUT')).toMatchObject({ value: '1.50', note: 'BTC/EUR, position OUTPUT: currency not shown' });
  });

  it('of a moment has nothing that came later', () => {
    const findings = [{ ...FINDING, first_seen_at: AS_OF.toISOString() }];
    const { facts, sections } = pageOf('open', { findings }, {}, new Date('2026-01-05T12:30:00.000Z'));
    expect(Object.fromEntries(facts.map(({ key, value }) => [key, value]))).toMatchObject({
      state: 'pending',
      pre_order_id: null,
    });
    expect(sections.map(({ name }) => name)).toEqual(['next', 'timeline']);
    expect(pageOf('open', {}, {}, new Date('2026-01-05T11:00:00.000Z')).verdict).toMatchObject({ tone: 'neutral' });
  });
});
