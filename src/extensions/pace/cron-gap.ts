import { validateDetailed } from 'node-cron';

const DAY_MS = 86_400_000;

export function shortestCronGapMs(expression: string): number {
  const { fields } = validateDetailed(expression);
  if (fields === undefined) return DAY_MS;
  const parts = [
    [fields.second, 1_000, 60],
    [fields.minute, 60_000, 60],
    [fields.hour, 3_600_000, 24],
  ] as const;
  for (const [values, unitMs, count] of parts) {
    const numbers = values.map(Number).toSorted((one, other) => one - other);
    const [first = 0] = numbers;
    const gaps = numbers.map((value, index) => (numbers[index + 1] ?? first + count) - value);
    if (numbers.length > 1) return Math.min(...gaps) * unitMs;
  }
  return DAY_MS;
}
