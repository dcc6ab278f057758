import { instantMs } from '../../../../base/instant.ts';
import type { Steps } from '../../../documents/document.ts';

const DAY_MS = 86_400_000;
/** More columns than these are too thin for a phone. */
const MOST_STEPS = 62;
const MOST_NAMES = 10;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** A time axis of days, or of longer steps where there are too many of them. */
export interface TimeSteps {
  readonly unit: string;
  readonly names: Steps;
  /** The step of a day; undefined if it is none. */
  readonly placeOf: (day: string) => number | undefined;
  readonly when: (place: number) => string;
}

interface Kind {
  readonly unit: string;
  readonly stepOf: (day: number) => number;
  readonly begin: (step: number) => Date;
  readonly name: (begin: Date, steps: number, isFirst: boolean) => string | null;
  readonly when: (begin: Date) => string;
}

const DAYS: Kind = {
  unit: 'day',
  stepOf: (day) => day,
  begin: (step) => new Date(step * DAY_MS),
  name(begin, steps, isFirst) {
    const day = begin.getUTCDate();
    if (steps > 8 && ![1, 8, 15, 22].includes(day)) return null;
    return isFirst || day === 1 ? dayName(begin) : String(day);
  },
  when: (begin) => `on ${dayName(begin)} ${begin.getUTCFullYear()}`,
};
const WEEKS: Kind = {
  unit: 'week',
  // The first day of all was a Thursday.
  stepOf: (day) => Math.floor((day + 3) / 7),
  begin: (step) => new Date((step * 7 - 3) * DAY_MS),
  name(begin, steps, isFirst) {
    const month = begin.getUTCMonth();
    if (begin.getUTCDate() > 7 || (steps > 26 && month % 3 !== 0)) return null;
    return isFirst || month === 0 ? monthName(begin) : (MONTHS[month] ?? null);
  },
  when: (begin) => `in the week of ${dayName(begin)} ${begin.getUTCFullYear()}`,
};
const KINDS: readonly Kind[] = [
  DAYS,
  WEEKS,
  monthsKind('month', 1),
  monthsKind('year', 12),
  monthsKind('decade', 120),
  monthsKind('century', 1_200),
];

/** Makes the axis of the days; what is no day is left out. It covers the period too where that has few days. */
export function timeSteps(days: readonly string[], period: readonly string[] = []): TimeSteps | undefined {
  const used = numbersOf(days);
  const all = numbersOf([...days, ...period]);
  if (used.length === 0) return undefined;
  const shown = all.at(-1)! - all[0]! < MOST_STEPS ? all : used;
  const [first, last] = [shown[0]!, shown.at(-1)!];
  const kind = KINDS.find(({ stepOf }) => stepOf(last) - stepOf(first) < MOST_STEPS) ?? KINDS.at(-1)!;
  const from = kind.stepOf(first);
  const count = kind.stepOf(last) - from + 1;
  return {
    unit: kind.unit,
    names: namesOf(kind, from, count),
    placeOf(day) {
      const number = numberOf(day);
      const place = number === undefined ? -1 : kind.stepOf(number) - from;
      return place >= 0 && place < count ? place : undefined;
    },
    when: (place) => kind.when(kind.begin(from + place)),
  };
}

function namesOf(kind: Kind, from: number, count: number): Steps {
  let isFirst = true;
  const names = Array.from({ length: count }, (_, place) => {
    const name = kind.name(kind.begin(from + place), count, isFirst);
    if (name !== null) isFirst = false;
    return name;
  });
  const named = names.filter((name) => name !== null);
  if (named.length === 0) return names.with(0, kind.name(kind.begin(from), 1, true) ?? dayName(kind.begin(from)));
  if (named.length <= MOST_NAMES) return names;
  const kept = new Set(named.filter((_, place) => place % Math.ceil(named.length / 6) === 0));
  return names.map((name) => (name !== null && kept.has(name) ? name : null));
}

function monthsKind(unit: string, months: number): Kind {
  return {
    unit,
    stepOf(day) {
      const date = new Date(day * DAY_MS);
      return Math.floor(((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()) / months);
    },
    begin: (step) => new Date(Date.UTC(1970, step * months)),
    name: (begin) => (begin.getUTCMonth() === 0 ? String(begin.getUTCFullYear()) : null),
    when: (begin) => (months === 1 ? `in ${monthName(begin)}` : `in the ${unit} from ${begin.getUTCFullYear()}`),
  };
}

function dayName(date: Date): string {
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

function monthName(date: Date): string {
  return `${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** Days since 1970, the earliest first. */
function numbersOf(days: readonly string[]): readonly number[] {
  const numbers = days.map(numberOf).filter((day) => day !== undefined);
  return numbers.toSorted((a, b) => a - b);
}

function numberOf(day: string): number | undefined {
  const ms = instantMs(`${day}T00:00:00Z`);
  return ms === undefined ? undefined : ms / DAY_MS;
}
