import { createRequire } from 'node:module';
import type * as NodeCron from 'node-cron';
import { text } from './values.ts';

const require = createRequire(import.meta.url);
/** Matches expressions for every few seconds or minutes. They are valid, so node-cron need not be loaded for them. */
const EVERY = /^\*\/(?:[1-9]|[1-5]\d)(?: \*){4,5}$/;
const DAY_MS = 86_400_000;
const YEARS_FROM = Date.UTC(2024, 0, 1);
const FIRING_DAYS = 5 * 365 + 2;
const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** A cron expression of node-cron, in UTC, that fires at least once in five years. */
export const cron = text((value) => {
  if (EVERY.test(value)) return value;
  const { createTask, validateDetailed } = require('node-cron') as typeof NodeCron;
  const { errors, fields } = validateDetailed(value);
  const [fault] = errors;
  if (fault !== undefined || fields === undefined) {
    const name = fault?.field.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
    const why = fault === undefined || name === 'expression' ? '' : `; ${fault.value} cannot be its ${name}`;
    throw new Error(`must be a cron expression of 5 or 6 fields, such as */5 * * * *${why}`);
  }
  const reversed = value.split(/[\s,]+/).find(isReversedRange);
  if (reversed !== undefined)
    throw new Error(`has the reversed range ${reversed}: write two ranges with a comma between`);
  const first = (of: readonly unknown[], unitMs: number) => Number(of[0]) * unitMs;
  const timeOfDay = first(fields.hour, 3_600_000) + first(fields.minute, 60_000) + first(fields.second, 1_000);
  const task = createTask(value, () => {}, { timezone: 'UTC' });
  const fires = Array.from({ length: FIRING_DAYS }, (_, day) => new Date(YEARS_FROM + day * DAY_MS + timeOfDay));
  const doesFire = fires.some((date) => task.match(date));
  void task.destroy();
  if (!doesFire) throw new Error('matches no time within five years, so it would never fire');
  return value;
});

/** True if a range such as `5-1` is reversed. node-cron wraps the range around, but it is nearly always a mistake. */
function isReversedRange(part: string): boolean {
  const [, from = '', to = ''] = /^(\w+)-(\w+)/.exec(part) ?? [];
  const [start, end] = [cronNumber(from), cronNumber(to)];
  return start > (end === 0 && /^sun/i.test(to) ? 7 : end);
}

function cronNumber(name: string): number {
  if (/^\d*$/.test(name)) return Number(name);
  const day = DAY_NAMES.indexOf(name.slice(0, 3).toLowerCase());
  return day >= 0 ? day : 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.slice(0, 3).toLowerCase()) / 3 + 1;
}
