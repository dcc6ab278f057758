/** One request for each order of a batch. */
export interface Round {
  readonly kind: 'create' | 'follow';
  readonly batch: string;
  readonly count: number;
  /** How far the clock of the sandbox is ahead of the machine's. */
  readonly aheadMs: number;
}

/** What a round took. */
export interface Took {
  readonly ms: number;
  /** User and system time of the process that worked. */
  readonly cpuMs: number;
  /** Durable commits, each with a sync to the disk. */
  readonly commits: number;
}

/** Times a round in this process. */
export async function timed(work: () => Promise<void>): Promise<Omit<Took, 'commits'>> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  await work();
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  return { ms, cpuMs: (user + system) / 1_000 };
}
