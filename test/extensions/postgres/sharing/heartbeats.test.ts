import { describe, expect, it } from 'vitest';
import { HEARTBEAT_MS, TRUSTED_MS, WorkerView } from '../../../../src/extensions/postgres/sharing/heartbeats.ts';

const BEGAN = Date.parse('2026-01-05T12:00:00.000Z');
const ELSEWHERE = { host: 'elsewhere', accounts: 0, isSharing: false };

/** A view of heartbeats that were renewed at times of the database's clock, read at a time of both clocks. */
function look(view: WorkerView, monotonic: number, renewed: Readonly<Record<string, number>>, databaseMs = monotonic) {
  const workers = Object.entries(renewed).map(([holder, at]) => ({
    ...ELSEWHERE,
    holder,
    seenUntil: new Date(BEGAN + at + HEARTBEAT_MS),
  }));
  view.see({ now: new Date(BEGAN + databaseMs), workers }, monotonic, monotonic);
  return view.over(monotonic).map(({ holder }) => holder);
}

describe('a worker whose heartbeat is not renewed', () => {
  it('is over when it ends, and known to others since long before', () => {
    const view = new WorkerView();
    expect(look(view, 400, { a: 0 })).toEqual([]);
    look(view, 1_700, { a: 0 });
    expect(look(view, 2_999, { a: 0 })).toEqual([]);
    expect(view.nextOverMs(2_999)).toBe(1);
    expect(look(view, 3_000, { a: 0 })).toEqual(['a']);
    expect(view.trustedUntil('a', 3_000)).toBe(TRUSTED_MS);
  });

  it('is over no earlier than it trusts itself, for one that sees it for the first time', () => {
    const view = new WorkerView();
    expect(look(view, 0, { a: -60_000 })).toEqual([]);
    look(view, 1_000, { a: -60_000 });
    expect(look(view, 2_499, { a: -60_000 })).toEqual([]);
    expect(look(view, 2_500, { a: -60_000 })).toEqual(['a']);
  });

  it('is over in the end although the clock of the database was set back', () => {
    const view = new WorkerView();
    for (const at of [0, 1_000, 2_000, 3_000]) look(view, at, { a: 0 }, at === 0 ? 0 : -3_600_000);
    expect(look(view, 4_000, { a: 0 }, -3_600_000)).toEqual([]);
    look(view, 5_000, { a: 0 }, -3_600_000);
    expect(look(view, 6_000, { a: 0 }, -3_600_000)).toEqual(['a']);
  });
});

describe('a worker that lives', () => {
  it('is not over because no worker had an answer of the database for a while: it renews its heartbeat after it', () => {
    const view = new WorkerView();
    look(view, 0, { a: 0, b: 0 });
    expect(look(view, 10_000, { a: 0, b: 0 })).toEqual([]);
    expect(look(view, 11_000, { a: 0, b: 10_900 })).toEqual([]);
    expect(look(view, 12_500, { a: 0, b: 11_900 })).toEqual(['a']);
    // It may have sent as long as it could renew its heartbeat.
    expect(view.trustedUntil('a', 12_500)).toBe(TRUSTED_MS);
  });

  it('has to renew its heartbeat if the database answers at least every two seconds', () => {
    const view = new WorkerView();
    look(view, 0, { a: 0 });
    look(view, 2_000, { a: 0 });
    expect(look(view, 3_000, { a: 0 })).toEqual(['a']);
    const silent = new WorkerView();
    look(silent, 0, { a: 0 });
    look(silent, 2_001, { a: 0 });
    expect(look(silent, 3_000, { a: 0 })).toEqual([]);
  });

  it('is not over because the clock of the database was set forward', () => {
    const view = new WorkerView();
    look(view, 0, { a: -200 });
    expect(look(view, 1_000, { a: 800 })).toEqual([]);
    // An hour forward; its next heartbeat is in the new time.
    expect(look(view, 1_100, { a: 800 }, 3_601_100)).toEqual([]);
    expect(look(view, 2_000, { a: 3_601_800 }, 3_602_000)).toEqual([]);
    look(view, 3_000, { a: 3_601_800 }, 3_603_000);
    expect(look(view, 4_300, { a: 3_601_800 }, 3_604_300)).toEqual([]);
    // It was stopped.
    expect(look(view, 4_800, { a: 3_601_800 }, 3_604_800)).toEqual(['a']);
    expect(view.trustedUntil('a', 4_800)).toBe(2_000 + TRUSTED_MS);
  });
});

describe('what a worker knows of the others', () => {
  it('has the time of the database, between two readings too', () => {
    const view = new WorkerView();
    view.see({ now: new Date(BEGAN), workers: [] }, 90, 110);
    expect(view.databaseTime(600)).toBe(BEGAN + 500);
  });

  it('knows no worker before it has looked, and no end to wait for', () => {
    const view = new WorkerView();
    expect([view.workers, view.over(0), view.nextOverMs(0)]).toEqual([[], [], Number.POSITIVE_INFINITY]);
  });

  it('knows when the first of them may be over', () => {
    const view = new WorkerView();
    look(view, 0, { a: 0, b: -400 });
    expect(view.nextOverMs(100)).toBe(2_500);
  });

  it.each([
    [500, TRUSTED_MS - 500],
    [501, TRUSTED_MS],
    [-500, TRUSTED_MS],
  ])(
    'takes a clock of the database that moved by %d ms for set anew only if answers cannot explain it',
    (ms, until) => {
      const view = new WorkerView();
      const workers = [{ ...ELSEWHERE, holder: 'a', seenUntil: new Date(BEGAN + HEARTBEAT_MS) }];
      view.see({ now: new Date(BEGAN), workers }, 0, 0);
      // The second answer took 200 ms.
      view.see({ now: new Date(BEGAN + 1_100 + ms), workers }, 1_000, 1_200);
      expect(view.trustedUntil('a', 10_000)).toBe(until);
    },
  );

  it('forgets one that was not seen for a minute, and a clock that was set anew too', () => {
    const view = new WorkerView();
    look(view, 40_000, { a: 40_000 });
    look(view, 100_000, {});
    expect(view.trustedUntil('a', 100_000)).toBe(40_000 + TRUSTED_MS);
    look(view, 100_001, {});
    expect(view.trustedUntil('a', 100_001)).toBe(100_001);
    const set = new WorkerView();
    look(set, 0, { a: -100 });
    look(set, 1_000, { a: -100 }, 3_601_000);
    expect([60_999, 61_000].map((monotonic) => set.trustedUntil('a', monotonic))).toEqual([TRUSTED_MS, -3_597_600]);
  });

  it('takes one that it never saw for one that may have sent until now', () => {
    expect(new WorkerView().trustedUntil('a', 5_000)).toBe(5_000);
  });

  it('is without workers that were declared over', () => {
    const view = new WorkerView();
    look(view, 0, { a: 0, b: 0 });
    view.remove('a');
    expect(view.workers.map(({ holder }) => holder)).toEqual(['b']);
    expect(view.trustedUntil('a', 3_000)).toBe(TRUSTED_MS);
  });
});
