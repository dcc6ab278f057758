/** How long orders stay in a status. */
export interface Duration {
  /** Draws a time in milliseconds; infinite if the order never leaves. */
  readonly draw: (random: () => number) => number;
  /** The part that is still there after this many milliseconds. */
  readonly lasting: (ms: number) => number;
}

/** Times whose logarithm is normal. */
export function logNormal(medianMs: number, sigma: number): Duration {
  return {
    draw: (random) => medianMs * Math.exp(sigma * standardNormal(random)),
    lasting: (ms) => (ms <= 0 ? 1 : 1 - normalBelow(Math.log(ms / medianMs) / sigma)),
  };
}

/** Times that fall off by a power: the part 2^-shape lasts for longer than `scaleMs`. */
export function pareto(scaleMs: number, shape: number): Duration {
  return {
    draw: (random) => scaleMs * ((1 - random()) ** (-1 / shape) - 1),
    lasting: (ms) => (1 + Math.max(0, ms) / scaleMs) ** -shape,
  };
}

/** Times of which each in a span is as likely. */
export function between(fromMs: number, toMs: number): Duration {
  return {
    draw: (random) => fromMs + (toMs - fromMs) * random(),
    lasting: (ms) => Math.min(1, Math.max(0, (toMs - ms) / (toMs - fromMs))),
  };
}

/** The same times, but that a part of the orders never leaves. */
export function withStaying(part: number, { draw, lasting }: Duration): Duration {
  return {
    draw: (random) => (random() < part ? Number.POSITIVE_INFINITY : draw(random)),
    lasting: (ms) => part + (1 - part) * lasting(ms),
  };
}

function standardNormal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** The normal distribution, exact to 7 digits (Abramowitz and Stegun, 26.2.17). */
function normalBelow(z: number): number {
  const t = 1 / (1 + 0.2316419 * Math.abs(z));
  const sum = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  const tail = (sum * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI);
  return z > 0 ? 1 - tail : tail;
}
