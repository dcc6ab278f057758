/** One request for each order of a batch. */
export interface Round {
  readonly kind: 'create' | 'follow';
  readonly batch: string;
  readonly count: number;
  /** How far the clock of the sandbox is ahead of the machine's. */
  readonly aheadMs: number;
}

/** The figures of a round. */
export interface Took {
  readonly ms: number;
  /** User and system time of the process that worked. */
  readonly cpuMs: number;
  /** Durable commits, each with a sync to the disk. */
  readonly commits: number;
}

/** The requests to the sandbox: to let all orders change, or when the create of an order arrived (it waits for it). */
export type SandboxMessage = { readonly kind: 'next-stage' } | { readonly kind: 'arrival'; readonly id: string };

/** The message of the sandbox once it listens: how many stages an order has after it was created, and how long one is. */
export interface SandboxReady {
  readonly url: string;
  readonly stages: number;
  readonly stageMs: number;
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
