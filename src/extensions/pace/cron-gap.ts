import { validateDetailed } from 'node-cron';

const DAY_MS = 86_400_000;

export function shortestCronGapMs(expression: string): number {
  const { second = [], minute = [], hour = [] } = validateDetailed(expression).fields ?? {};
  const parts = [
    { values: second, unitMs: 1_000, count: 60 },
    { values: minute, unitMs: 60_000, count: 60 },
    { values: hour, unitMs: 3_600_000, count: 24 },
  ];
  for (const { values, unitMs, count } of parts) {
    const numbers = values.map(Number).toSorted((one, other) => one - other);
    const gaps = numbers.map((value, index) => (numbers[index + 1] ?? numbers[0]! + count) - value);
    if (numbers.length > 1) return Math.min(...gaps) * unitMs;
  }
  return DAY_MS;
}
