/** One measured figure. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** Smallest and largest of what `value` is the middle of. */
  readonly range?: readonly [number, number];
  readonly target?: Target;
}

/** The target of a figure. */
export type Target = { readonly atLeast: number } | { readonly atMost: number } | { readonly below: number };

/** Tells whether a figure reaches its target; one without a target does. */
export function isMet({ value, target }: Figure): boolean {
  if (target === undefined) return true;
  if ('atLeast' in target) return value >= target.atLeast;
  return 'atMost' in target ? value <= target.atMost : value < target.below;
}

/** A figure as a line of a table. */
export function lineOf(figure: Figure): Record<string, string> {
  const { name, value, unit, range, target } = figure;
  return {
    figure: name,
    value: shown(value),
    unit,
    range: range === undefined ? '' : `${shown(range[0])} to ${shown(range[1])}`,
    target: target === undefined ? '' : wanted(target),
    met: target === undefined ? '' : isMet(figure) ? 'yes' : 'NO',
  };
}

function wanted(target: Target): string {
  if ('atLeast' in target) return `>= ${target.atLeast}`;
  return 'atMost' in target ? `<= ${target.atMost}` : `< ${target.below}`;
}

/** The middle of the values, and how far they reach. */
export function middle(values: readonly number[]): { value: number; range: [number, number] } {
  return { value: quantile(values, 0.5), range: [quantile(values, 0), quantile(values, 1)] };
}

/** The value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const [lower = Number.NaN, upper = lower] = sorted.slice(Math.floor(place), Math.floor(place) + 2);
  return lower + (upper - lower) * (place % 1);
}

function shown(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 3;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}
