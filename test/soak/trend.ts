/** One look at a process that works steadily: numbers that stay level as long as it keeps nothing. */
export interface Sample {
  readonly rssBytes: number;
  readonly descriptors: number;
  readonly sockets: number;
  readonly walBytes: number;
  /** The worst since the look before. */
  readonly eventLoopDelayMs: number;
}

/** How one of the numbers went. */
interface Trend {
  readonly measure: keyof Sample;
  /** The median of the second quarter, when the process has warmed up. */
  readonly before: number;
  /** The median of the last quarter. */
  readonly after: number;
  /** The most that `after` may be. */
  readonly most: number;
}

const MIB = 1_048_576;

interface Bound {
  readonly share: number;
  readonly beside: number;
  /** The memory and files of a process once it has warmed up, however long that takes. */
  readonly warm?: number;
}

/** How much more the last quarter may have than the second: this share of it, and as much as `beside` besides. */
const BOUNDS: Readonly<Record<keyof Sample, Bound>> = {
  rssBytes: { share: 0.15, beside: 24 * MIB },
  descriptors: { share: 0.1, beside: 8 },
  sockets: { share: 0.1, beside: 8 },
  // The log grows until its first checkpoint, at 4,000 pages; a slow machine takes minutes to write them.
  walBytes: { share: 0.25, beside: 4 * MIB, warm: 16 * MIB },
  // Other programs of the machine delay it too.
  eventLoopDelayMs: { share: 0.5, beside: 500 },
};

/** How each number went from the second to the last quarter of the samples, which are in the order of time. */
export function trendsOf(samples: readonly Sample[]): readonly Trend[] {
  return (Object.keys(BOUNDS) as (keyof Sample)[]).map((measure) => {
    const values = samples.map((sample) => sample[measure]);
    const at = (share: number) => Math.floor(values.length * share);
    const before = median(values.slice(at(0.25), at(0.5)));
    const after = median(values.slice(at(0.75)));
    const { share, beside, warm = 0 } = BOUNDS[measure];
    return { measure, before, after, most: Math.max(before, warm) * (1 + share) + beside };
  });
}

/** The numbers that grew, in words. */
export function growthIn(trends: readonly Trend[]): readonly string[] {
  return trends
    .filter(({ after, most }) => after > most)
    .map(
      ({ measure, before, after, most }) =>
        `${measure} grew from ${Math.round(before)} to ${Math.round(after)}, more than ${Math.round(most)}`,
    );
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
