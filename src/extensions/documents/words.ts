/** Puts an apostrophe before a formula at the beginning, and after `;`, tab or line end, which may end a cell. */
export function noFormula(text: string): string {
  if (/^-\d+(\.\d+)?$/.test(text)) return text;
  return text.replaceAll(/^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g, "'");
}

/** Returns true if an apostrophe of the text may be one that `noFormula` put there. */
export function hasFormulaGuard(text: string): boolean {
  return /^'[\t\r\n]|(?<=^|[;\t\r\n])'[=+\-@＝＋－＠]/.test(text);
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

export function capitalized(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Lists the counts above zero: `3 open, 1 held`. */
export function partsOf(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).filter(([, count]) => count > 0);
  return parts.map(([name, count]) => `${count} ${name}`).join(', ');
}

/** Rounds a duration down to whole days, below two days to hours or minutes: `3 days`, `47 hours`, `1 minute`. */
export function inWords(ms: number): string {
  if (ms < MINUTE_MS) return 'less than a minute';
  if (ms < HOUR_MS) return counted(Math.floor(ms / MINUTE_MS), 'minute');
  return ms < 2 * DAY_MS ? counted(Math.floor(ms / HOUR_MS), 'hour') : counted(Math.floor(ms / DAY_MS), 'day');
}

const UNITS = [
  [365 * DAY_MS, 'y'],
  [DAY_MS, 'd'],
  [HOUR_MS, 'h'],
  [MINUTE_MS, 'min'],
  [1_000, 's'],
] as const;

/** Writes a duration in the greatest unit that it fills, or in seconds: `0.4 s`, `45 s`, `2.5 min`, `12 h`, `3 d`. */
export function inUnits(ms: number): string {
  const [unit, name] = UNITS.find(([one]) => ms >= one) ?? [1_000, 's'];
  const count = ms / unit;
  return `${count < 10 ? Math.round(count * 10) / 10 : Math.round(count)} ${name}`;
}

export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).toWellFormed()}…`;
}

export function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

const TIME = /^(\d{4})-(\d\d)-(\d\d)T((\d\d:\d\d):\d\d)(?:\.\d+)?Z$/;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Shortens a UTC time of today to `12:00:59`, of this year to `31 Jan 12:00`, of other years to `31 Jan 2025`. */
export function shortTime(text: string, now: Date): string {
  const [, year = '', month, day, time, minute] = TIME.exec(text) ?? [];
  if (time === undefined) return text;
  const today = now.toISOString();
  if (today.startsWith(text.slice(0, 10))) return time;
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${today.startsWith(year) ? minute : year}`;
}
