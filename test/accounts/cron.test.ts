import { afterEach, expect, it, vi } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { Cron, tellMissed } from '../../src/accounts/cron.ts';
import { capturedLog } from '../support/captured-log.ts';

const MISSED = /ticks of the schedule were missed/;

afterEach(() => vi.useRealTimers());

it('ticks that were missed while the process stood still are one line of the log, and nothing else is written', async () => {
  vi.useFakeTimers({ now: new Date('2026-01-05T12:00:00.000Z') });
  const written = [vi.spyOn(process.stderr, 'write'), vi.spyOn(process.stdout, 'write'), vi.spyOn(console, 'warn')];
  const log = capturedLog();
  let ticks = 0;
  await using orders = new Cron(systemClock(), '*/5 * * * * *', () => (ticks += 1));
  await using links = new Cron(systemClock(), '*/30 * * * * *', () => {});
  await using none = new Cron(systemClock(), undefined, () => {});
  const crons = [orders, links, none];
  tellMissed(crons, log.logger);
  expect(log.with(MISSED)).toEqual([]);
  vi.setSystemTime(new Date('2026-01-05T12:01:06.000Z'));
  await vi.advanceTimersByTimeAsync(33_000);
  tellMissed(crons, log.logger);
  tellMissed(crons, log.logger);
  expect(log.with(MISSED)).toMatchObject([{ level: 'warn', missed: 16 }]);
  expect(ticks).toBeGreaterThan(0);
  for (const write of written) expect(write).not.toHaveBeenCalled();
});
