import { describe, expect, it } from 'vitest';
import type { FindingClassName } from '../../../src/findings/rules/classes.ts';
import {
  decideFindings,
  withoutKnownChanges,
  type Finding,
  type FindingStatus,
  type KnownFinding,
} from '../../../src/findings/rules/finding.ts';

const NOTHING = { opened: [], reopened: [], seenAgain: [], resolved: [] };

const found = (name: FindingClassName, actual = '1.6'): Finding => ({ class: name, expected: '1.5', actual });
const known = (name: FindingClassName, status: FindingStatus, actual = '1.6'): KnownFinding => ({
  id: 1,
  status,
  ...found(name, actual),
});

/** Which list each finding went to. */
const became = (before: readonly KnownFinding[], now: readonly Finding[], judged: readonly FindingClassName[]) => {
  const changes = decideFindings(before, now, judged);
  return Object.entries(changes).flatMap(([list, findings]) =>
    (findings as Finding[]).map((one) => `${one.class} ${list}`),
  );
};

describe('findings held against the known ones', () => {
  it('are opened when they are new', () => {
    expect(decideFindings([], [found('AMOUNT_MISMATCH')], ['AMOUNT_MISMATCH'])).toEqual({
      ...NOTHING,
      opened: [found('AMOUNT_MISMATCH')],
    });
  });

  it.each<[FindingStatus, string, string]>([
    ['open', '1.6', 'seenAgain'],
    ['open', '1.7', 'seenAgain'],
    ['acknowledged', '1.6', 'seenAgain'],
    ['acknowledged', '1.7', 'reopened'],
    ['resolved', '1.6', 'reopened'],
    ['resolved', '1.7', 'reopened'],
  ])('of kind state: %s and now %s is %s', (status, actual, list) => {
    const before = [known('AMOUNT_MISMATCH', status)];
    expect(became(before, [found('AMOUNT_MISMATCH', actual)], ['AMOUNT_MISMATCH'])).toEqual([
      `AMOUNT_MISMATCH ${list}`,
    ]);
  });

  it('are opened again if what was expected is another', () => {
    const before = [known('AMOUNT_MISMATCH', 'acknowledged')];
    expect(became(before, [{ ...found('AMOUNT_MISMATCH'), expected: '1.4' }], [])).toEqual([
      'AMOUNT_MISMATCH reopened',
    ]);
    const change = { ...found('TERMS_CHANGED'), expected: '1.4' };
    expect(became([known('TERMS_CHANGED', 'open')], [change], [])).toEqual(['TERMS_CHANGED opened']);
  });

  it('are those of their class alone', () => {
    const before = [known('AMOUNT_MISMATCH', 'open'), known('TERMS_CHANGED', 'open')];
    const now = [found('PAIR_MISMATCH'), found('ADDRESS_CHANGED')];
    expect(became(before, now, ['AMOUNT_MISMATCH'])).toEqual([
      'PAIR_MISMATCH opened',
      'ADDRESS_CHANGED opened',
      'AMOUNT_MISMATCH resolved',
    ]);
  });

  it('stay acknowledged with other values if they only explain', () => {
    const before = [known('RATE_INCONSISTENT', 'acknowledged')];
    expect(became(before, [found('RATE_INCONSISTENT', '9')], [])).toEqual(['RATE_INCONSISTENT seenAgain']);
  });

  it('resolve themselves when they are judged and not true any more, acknowledged or not', () => {
    const before = [known('AMOUNT_MISMATCH', 'open'), known('PAIR_MISMATCH', 'acknowledged')];
    expect(became(before, [], ['AMOUNT_MISMATCH', 'PAIR_MISMATCH'])).toEqual([
      'AMOUNT_MISMATCH resolved',
      'PAIR_MISMATCH resolved',
    ]);
    expect(became(before, [], ['PAIR_MISMATCH'])).toEqual(['PAIR_MISMATCH resolved']);
    expect(became([known('PAIR_MISMATCH', 'resolved')], [], ['PAIR_MISMATCH'])).toEqual([]);
  });

  it('of what happened never resolve themselves, and are one for each pair of values', () => {
    const before = [known('TERMS_CHANGED', 'open')];
    expect(became(before, [], ['TERMS_CHANGED'])).toEqual([]);
    expect(became(before, [found('TERMS_CHANGED')], [])).toEqual(['TERMS_CHANGED seenAgain']);
    expect(became(before, [found('TERMS_CHANGED', '1.7')], [])).toEqual(['TERMS_CHANGED opened']);
  });

  it.each<[FindingStatus, string]>([
    ['open', 'seenAgain'],
    ['acknowledged', 'reopened'],
    ['resolved', 'reopened'],
  ])('of what happens again are open: %s is %s', (status, list) => {
    const before = [known('ADDRESS_CHANGED', status), known('TERMS_CHANGED', status)];
    expect(became(before, [found('ADDRESS_CHANGED'), found('TERMS_CHANGED')], [])).toEqual([
      `ADDRESS_CHANGED ${list}`,
      `TERMS_CHANGED ${list}`,
    ]);
  });

  it('of replicas that disagree are one of an order, which counts, and stays acknowledged', () => {
    const one = known('REPLICAS_DISAGREE', 'acknowledged', 'older');
    const again = decideFindings([one], [found('REPLICAS_DISAGREE', 'older')], []);
    expect(again).toMatchObject({ ...NOTHING, seenAgain: [{ id: one.id, actual: 'older (change 2)' }] });
    const counted = again.seenAgain[0]!;
    expect(decideFindings([counted], [found('REPLICAS_DISAGREE', 'another')], [])).toMatchObject({
      ...NOTHING,
      seenAgain: [{ id: one.id, actual: 'another (change 3)' }],
    });
  });

  it('of what happened are as they were if it is only looked at once more', () => {
    const before = [known('ADDRESS_CHANGED', 'acknowledged'), known('AMOUNT_MISMATCH', 'resolved')];
    const now = [found('ADDRESS_CHANGED'), found('ADDRESS_CHANGED', '1.7'), found('AMOUNT_MISMATCH')];
    expect(withoutKnownChanges(before, now)).toEqual(now.slice(1));
  });

  it('of what happened are 50 of a class, and then the newest is counted on', () => {
    const before = Array.from({ length: 49 }, (_, index) => ({
      ...known('SILENT_CHANGE', 'acknowledged', `v${index}`),
      id: index + 1,
    }));
    const another = [found('SILENT_CHANGE', 'another')];
    expect(decideFindings(before, another, [])).toEqual({ ...NOTHING, opened: another });
    const fifty = [...before, { ...known('SILENT_CHANGE', 'acknowledged', 'v49'), id: 50 }];
    const { reopened } = decideFindings(fifty, another, []);
    expect(reopened).toMatchObject([{ id: 50, actual: 'another (change 51)' }]);
    const counted = fifty.with(49, { ...known('SILENT_CHANGE', 'open', 'another (change 51)'), id: 50 });
    const changes = decideFindings(counted, [found('SILENT_CHANGE', 'more')], []);
    expect(changes).toMatchObject({ ...NOTHING, seenAgain: [{ id: 50, actual: 'more (change 52)' }] });
    const quoting = fifty.with(49, { ...known('SILENT_CHANGE', 'open', 'a text (change 7) of the exchange'), id: 50 });
    expect(decideFindings(quoting, another, []).seenAgain).toMatchObject([{ actual: 'another (change 51)' }]);
    expect(decideFindings(counted, [found('TERMS_CHANGED')], []).opened).toHaveLength(1);
    expect(became(counted, [found('SILENT_CHANGE', 'v3')], [])).toEqual(['SILENT_CHANGE reopened']);
  });

  it('of kind state are one of a class, with all its values', () => {
    const two = [found('TYPE_MISMATCH', 'a'), found('TYPE_MISMATCH', 'b')];
    expect(decideFindings([], two, []).opened).toEqual([
      { class: 'TYPE_MISMATCH', expected: '1.5; 1.5', actual: 'a; b' },
    ]);
    const ofTwoClasses = [found('TYPE_MISMATCH', 'a'), found('PAIR_MISMATCH', 'b')];
    expect(decideFindings([], ofTwoClasses, []).opened).toEqual(ofTwoClasses);
  });
});
