import { instantMs } from '../../../base/instant.ts';
import type { Steps } from '../../documents/document.ts';

const DAY_MS = 86_400_000;
const MOST_STEPS = 62;
const MOST_NAMES = 10;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** A time axis of days, or of the shortest longer unit that makes at most `MOST_STEPS` steps. */
export type TimeSteps = NonNullable<ReturnType<typeof timeSteps>>;

interface Kind {
  readonly unit: string;
  readonly stepOf: (day: number) => number;
  readonly begin: (step: number) => Date;
  readonly isNamed: (begin: Date, steps: number) => boolean;
  readonly name: (begin: Date, isFirst: boolean) => string;
  readonly when: (begin: Date) => string;
}

const DAYS: Kind = {
  unit: 'day',
  stepOf: (day) => day,
  begin: (step) => new Date(step * DAY_MS),
  isNamed: (begin, steps) => steps <= 8 || [1, 8, 15, 22].includes(begin.getUTCDate()),
  name: (begin, isFirst) => (isFirst || begin.getUTCDate() === 1 ? dayName(begin) : String(begin.getUTCDate())),
  when: (begin) => `on ${dayName(begin)} ${begin.getUTCFullYear()}`,
};
const WEEKS: Kind = {
  unit: 'week',
  // Weeks begin on Monday, and day 0, 1970-01-01, was a Thursday.
  stepOf: (day) => Math.floor((day + 3) / 7),
  begin: (step) => new Date((step * 7 - 3) * DAY_MS),
  isNamed: (begin, steps) => begin.getUTCDate() <= 7 && (steps <= 26 || begin.getUTCMonth() % 3 === 0),
  name: (begin, isFirst) => monthName(begin, isFirst || begin.getUTCMonth() === 0),
  when: (begin) => `in the week of ${dayName(begin)} ${begin.getUTCFullYear()}`,
};
const monthsKind = (unit: string, months: number): Kind => ({
  unit,
  stepOf(day) {
    const date = new Date(day * DAY_MS);
    return Math.floor(((date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth()) / months);
  },
  begin: (step) => new Date(Date.UTC(1970, step * months)),
  isNamed: (begin) => begin.getUTCMonth() === 0,
  name: (begin) => String(begin.getUTCFullYear()),
  when: (begin) => (months === 1 ? `in ${monthName(begin, true)}` : `in the ${unit} from ${begin.getUTCFullYear()}`),
});
const LONG = [monthsKind('month', 1), monthsKind('year', 12), monthsKind('decade', 120), monthsKind('century', 1_200)];
const KINDS: readonly Kind[] = [DAYS, WEEKS, ...LONG];

/** Returns undefined for fewer than two steps. Covers `period` too if the axis then has at most `MOST_STEPS` days. */
export function timeSteps(days: readonly string[], period: readonly string[] = []) {
  const used = numbersOf(days);
  const all = numbersOf([...days, ...period]);
  if (used.length === 0) return undefined;
  const shown = all.at(-1)! - all[0]! < MOST_STEPS ? all : used;
  const [first, last] = [shown[0]!, shown.at(-1)!];
  const kind = KINDS.find(({ stepOf }) => stepOf(last) - stepOf(first) < MOST_STEPS) ?? KINDS.at(-1)!;
  const from = kind.stepOf(first);
  if (from === kind.stepOf(last)) return undefined;
  const begins = Array.from({ length: kind.stepOf(last) - from + 1 }, (_, place) => kind.begin(from + place));
  return {
    unit: kind.unit,
    names: namesOf(kind, begins),
    placeOf: (day: string): number | undefined => {
      const number = numberOf(day);
      const place = number === undefined ? -1 : kind.stepOf(number) - from;
      return place in begins ? place : undefined;
    },
    when: (place: number) => kind.when(kind.begin(from + place)),
  };
}

function namesOf(kind: Kind, begins: readonly Date[]): Steps {
  const places = [...begins.keys()].filter((place) => kind.isNamed(begins[place]!, begins.length));
  const [first = 0] = places;
  const each = places.length <= MOST_NAMES ? 1 : Math.ceil(places.length / 6);
  const named = new Set([first, ...places.filter((_, index) => index % each === 0)]);
  return begins.map((begin, place) => (named.has(place) ? kind.name(begin, place === first) : null));
}

function dayName(date: Date): string {
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
}

function monthName(date: Date, hasYear: boolean): string {
  return `${MONTHS[date.getUTCMonth()]}${hasYear ? ` ${date.getUTCFullYear()}` : ''}`;
}

function numbersOf(days: readonly string[]): readonly number[] {
  const numbers = days.map(numberOf).filter((day) => day !== undefined);
  return numbers.toSorted((a, b) => a - b);
}

function numberOf(day: string): number | undefined {
  const ms = instantMs(`${day}T00:00:00Z`);
  return ms === undefined ? undefined : ms / DAY_MS;
}
