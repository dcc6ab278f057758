import { describe, expect, it } from 'vitest';
import {
  IncidentStory,
  messagesOf,
  OTHER_CAUSES,
  type Condition,
  type IncidentKind,
} from '../../../src/extensions/health/incident-story.ts';
import type { Failure } from '../../../src/orders/pass/process-events.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';

const OUT_OF_REACH: Condition = { kind: 'exchange', cause: 'ECONNREFUSED' };
const LOCKED: Condition = { kind: 'database', cause: 'locked' };
const lookup = (cause: string, more: Partial<Failure> = {}): Failure => ({ message: 'no answer', cause, ...more });

/** The lines of each second of the time, if `holds` returns the conditions of a second: `at stage kind lasted failures`. */
function told(story: IncidentStory, seconds: number, holds: (second: number) => readonly Condition[]): string[] {
  return Array.from({ length: seconds }, (_, second) =>
    story
      .observe(holds(second), second * SECOND)
      .map(({ stage, kind, lastedMs, failures }) => `${second} ${stage} ${kind} ${lastedMs / SECOND} ${failures}`),
  ).flat();
}

describe('an incident', () => {
  it.each<[string, number, (second: number) => readonly Condition[], string[]]>([
    ['that never is', 100, () => [], []],
    [
      'begins, is told of each minute, and ends once it stays away',
      200,
      (second) => (second >= 10 && second < 140 ? [OUT_OF_REACH] : []),
      [
        '10 begun exchange 0 0',
        '70 lasting exchange 60 0',
        '130 lasting exchange 120 0',
        '140 over exchange 130 0',
        '145 ended exchange 130 0',
      ],
    ],
    [
      'that comes back within seconds is the same one',
      60,
      (second) => (second % 4 < 2 && second < 40 ? [OUT_OF_REACH] : []),
      ['0 begun exchange 0 0', ...[2, 6, 10, 14, 18, 22, 26, 30, 34].map((at) => `${at} over exchange ${at} 0`)].concat(
        '38 over exchange 38 0',
        '43 ended exchange 38 0',
      ),
    ],
    [
      'of a key ends soon after a key is taken',
      20,
      (second) => (second < 5 || second === 10 ? [{ kind: 'key-refused', cause: '401' }] : []),
      [
        '0 begun key-refused 0 0',
        '5 over key-refused 5 0',
        '6 ended key-refused 5 0',
        '10 begun key-refused 0 0',
        '11 over key-refused 1 0',
        '12 ended key-refused 1 0',
      ],
    ],
    [
      'is told of beside another one',
      40,
      (second) => [...(second < 20 ? [OUT_OF_REACH] : []), ...(second >= 10 && second < 30 ? [LOCKED] : [])],
      [
        '0 begun exchange 0 0',
        '10 begun database 0 0',
        '20 over exchange 20 0',
        '25 ended exchange 20 0',
        '30 over database 20 0',
        '35 ended database 20 0',
      ],
    ],
    [
      'has lasted since before this process',
      10,
      () => [{ kind: 'creates-paused', cause: 'maintenance', lastedMs: 3_600 * SECOND }],
      ['0 begun creates-paused 3600 0'],
    ],
  ])('%s', (_name, seconds, holds, expected) => {
    expect(told(new IncidentStory(), seconds, holds)).toEqual(expected);
  });

  it('counts the failures that it explains: since the last line, and at its end all', () => {
    const story = new IncidentStory();
    const down = (second: number) => {
      if (second < 70) story.fail(lookup('ECONNREFUSED', { kind: 'exchange' }), second * SECOND);
      return second < 70 ? [OUT_OF_REACH] : [];
    };
    expect(told(story, 100, down)).toEqual([
      '0 begun exchange 0 0',
      '60 lasting exchange 60 60',
      '70 over exchange 70 9',
      '75 ended exchange 70 69',
    ]);
  });

  it('that comes back counts on what failed before', () => {
    const story = new IncidentStory();
    const down = (second: number) => {
      if (second === 10) story.fail(lookup('ECONNREFUSED', { kind: 'exchange' }), second * SECOND);
      return second === 20 ? [] : [OUT_OF_REACH];
    };
    expect(told(story, 62, down)).toEqual([
      '0 begun exchange 0 0',
      '20 over exchange 20 1',
      '60 lasting exchange 60 1',
    ]);
  });

  it('is told of with the latest cause', () => {
    const story = new IncidentStory();
    story.observe([OUT_OF_REACH], 0);
    expect(story.observe([{ ...OUT_OF_REACH, cause: 'HTTP 502' }], MINUTE)).toMatchObject([{ cause: 'HTTP 502' }]);
  });

  it('that is over ends at once when nothing more is observed; one that continues is not said to have ended', () => {
    const story = new IncidentStory();
    story.observe([OUT_OF_REACH, LOCKED], 0);
    story.observe([LOCKED], SECOND);
    expect(story.close(2 * SECOND).ended).toMatchObject([{ kind: 'exchange', lastedMs: SECOND }]);
  });
});

describe('an incident that is forgotten', () => {
  it('does not end, and begins anew', () => {
    const story = new IncidentStory();
    story.observe([OUT_OF_REACH, LOCKED], 0);
    story.forget('exchange');
    expect(story.observe([LOCKED], MINUTE)).toMatchObject([{ stage: 'lasting', kind: 'database' }]);
    expect(story.observe([OUT_OF_REACH, LOCKED], MINUTE)).toMatchObject([{ stage: 'begun', kind: 'exchange' }]);
  });
});

describe('the messages of an incident', () => {
  const ERRORS: readonly IncidentKind[] = ['exchange', 'database', 'forbidden', 'key-refused'];
  it.each<[IncidentKind, 'warn' | 'error']>([
    ...ERRORS.map((kind) => [kind, 'error'] as [IncidentKind, 'error']),
    ['slowed', 'warn'],
    ['all-paused', 'warn'],
  ])('%s have the level %s, and another text for its begin, its course and its end', (kind, expected) => {
    const [level, ...texts] = messagesOf(kind);
    expect(level).toBe(expected);
    expect(texts).toEqual([expect.any(String), expect.any(String), expect.any(String)]);
    expect(new Set(['', ...texts]).size).toBe(4);
  });
});

describe('a failure', () => {
  it('is shown once by message and cause, and counted for a minute', () => {
    const story = new IncidentStory();
    story.takeRepeated(0);
    const shown = ['reset', 'reset', 'timeout', 'reset'].map((cause) => story.fail(lookup(cause), SECOND));
    expect(shown).toEqual([true, false, true, false]);
    expect(story.takeRepeated(59 * SECOND)).toEqual([]);
    expect(story.takeRepeated(MINUTE)).toEqual([{ message: 'no answer', cause: 'reset', times: 2 }]);
    expect(story.takeRepeated(2 * MINUTE)).toEqual([]);
    expect(story.fail(lookup('reset'), 3 * MINUTE)).toBe(true);
  });

  it('about one order is shown once for each, for good, and counted together', () => {
    const story = new IncidentStory();
    story.takeRepeated(0);
    const fail = (subject: string, at: number) => story.fail(lookup('odd', { subject }), at);
    expect([fail('a', 0), fail('b', 0), fail('a', 1), fail('b', 2)]).toEqual([true, true, false, false]);
    expect(story.takeRepeated(MINUTE)).toEqual([{ message: 'no answer', cause: 'odd', times: 2 }]);
    expect(fail('a', 100 * MINUTE)).toBe(false);
  });

  it('of a new cause is shown also while an incident explains it, and then neither again nor in a count of its own', () => {
    const story = new IncidentStory();
    story.observe([OUT_OF_REACH], 0);
    const fail = (cause: string, at: number) => story.fail(lookup(cause, { kind: 'exchange' }), at);
    expect(['ECONNREFUSED', 'HTTP 502', 'HTTP 502'].map((cause) => fail(cause, SECOND))).toEqual([false, true, false]);
    for (let minute = 0; minute < 10; minute += 1) expect(story.takeRepeated(minute * MINUTE)).toEqual([]);
    expect(fail('HTTP 502', 10 * MINUTE)).toBe(false);
  });

  it('of the database is counted alone while its incident explains it, in whatever words the server says it', () => {
    const story = new IncidentStory();
    const fail = (cause: string) => story.fail(lookup(cause, { kind: 'database' }), SECOND);
    expect(fail('locked')).toBe(true);
    story.observe([LOCKED], 0);
    expect(['locked', 'ECONNREFUSED', 'the database system is starting up'].map(fail)).toEqual([false, false, false]);
    expect(story.observe([LOCKED], MINUTE)).toMatchObject([{ stage: 'lasting', failures: 3 }]);
    expect(story.takeRepeated(MINUTE)).toEqual([]);
  });

  it('that came before its incident is told of with that, and not again when it is over', () => {
    const story = new IncidentStory();
    story.takeRepeated(0);
    for (let times = 0; times < 3; times += 1) story.fail(lookup('locked', { kind: 'database' }), SECOND);
    story.observe([LOCKED], 2 * SECOND);
    story.observe([], 3 * SECOND);
    expect(story.takeRepeated(MINUTE)).toEqual([]);
    expect(story.observe([], MINUTE)).toMatchObject([{ stage: 'ended', failures: 2 }]);
  });

  it.each<[string, Partial<Failure>]>([
    ['of no incident', {}],
    ['of another kind', { kind: 'exchange' }],
    ['about one order', { kind: 'database', subject: 'a' }],
  ])('%s that came before an incident is counted for itself', (_which, more) => {
    const story = new IncidentStory();
    story.takeRepeated(0);
    for (let times = 0; times < 3; times += 1) story.fail(lookup('reset', more), SECOND);
    story.observe([LOCKED], 2 * SECOND);
    expect(story.takeRepeated(MINUTE)).toEqual([{ message: 'no answer', cause: 'reset', times: 2 }]);
    expect(story.observe([LOCKED], 2 * MINUTE)).toMatchObject([{ stage: 'lasting', failures: 0 }]);
  });

  it('about one order is shown also if it has the cause of the incident that explains it', () => {
    const story = new IncidentStory();
    story.observe([OUT_OF_REACH], 0);
    expect(story.fail(lookup('ECONNREFUSED', { kind: 'exchange', subject: 'a' }), SECOND)).toBe(true);
  });

  it('is counted for itself, by its message and its cause', () => {
    const story = new IncidentStory();
    story.takeRepeated(0);
    for (const message of ['one', 'other', 'one', 'other', 'other']) story.fail({ message, cause: 'reset' }, SECOND);
    expect(story.takeRepeated(MINUTE)).toEqual([
      { message: 'one', cause: 'reset', times: 1 },
      { message: 'other', cause: 'reset', times: 2 },
    ]);
  });

  it('is news again a minute after it last came, also if an incident could explain it', () => {
    const story = new IncidentStory();
    const fail = (at: number) => story.fail(lookup('reset', { kind: 'exchange' }), at);
    story.takeRepeated(0);
    expect(fail(SECOND)).toBe(true);
    story.takeRepeated(MINUTE);
    expect(fail(MINUTE)).toBe(false);
    story.takeRepeated(2 * MINUTE - 1);
    expect(fail(2 * MINUTE - 1)).toBe(false);
    story.takeRepeated(3 * MINUTE - 1);
    expect(fail(3 * MINUTE - 1)).toBe(true);
  });

  it('is shown once for each order, however long it does not come', () => {
    const story = new IncidentStory();
    story.fail(lookup('odd', { subject: 'a' }), 0);
    for (let minute = 0; minute < 5; minute += 1) story.takeRepeated(minute * MINUTE);
    expect(story.fail(lookup('odd', { subject: 'a' }), 5 * MINUTE)).toBe(false);
  });

  it('is not counted beside the incident that explains it, however many different ones there are', () => {
    const story = new IncidentStory();
    story.observe([OUT_OF_REACH], 0);
    story.takeRepeated(0);
    for (let index = 0; index < 60; index += 1) story.fail(lookup(`cause ${index}`, { kind: 'exchange' }), SECOND);
    expect(story.takeRepeated(MINUTE)).toEqual([]);
  });

  it('is remembered as one of the last 5,000', () => {
    const remembers = (others: number) => {
      const story = new IncidentStory();
      for (let index = 0; index <= others; index += 1) story.fail({ message: `m${index}`, cause: 'c' }, 0);
      return !story.fail({ message: 'm0', cause: 'c' }, 0);
    };
    expect([remembers(4_999), remembers(5_000)]).toEqual([true, false]);
  });

  it('is only counted if too many different ones come in a minute, and shown when there is room again', () => {
    const story = new IncidentStory();
    story.takeRepeated(0);
    const shown = Array.from({ length: 1_000 }, (_, index) => story.fail(lookup(`cause ${index}`), SECOND));
    expect(shown.filter(Boolean)).toHaveLength(50);
    expect(story.takeRepeated(MINUTE)).toEqual([{ message: 'no answer', cause: OTHER_CAUSES, times: 950 }]);
    expect(story.fail(lookup('cause 999'), MINUTE)).toBe(true);
  });
});
