import { availableParallelism } from 'node:os';
import { commit, keep, keptOf, readKept, type Kept, type KeptResult } from './kept.ts';
import type { Dose, Part, Piece } from './part.ts';
import { runInProcess } from './piece.ts';

/** The result of a part: its pieces added up. */
export interface PartResult {
  readonly part: Part;
  readonly counts: Readonly<Record<string, number>>;
  readonly violations: readonly string[];
  /** The commits that its pieces ran on. */
  readonly commits: readonly string[];
  readonly at: string;
  readonly durationMs: number;
}

type Say = (text: string) => void;

interface Job {
  readonly part: Part;
  readonly piece: Piece;
  /** The place in which its results are kept. */
  readonly kept: Kept | undefined;
}

/** More waiting parts at once would keep each other from their deadlines. */
const MOST_WAITING = 3;

/**
 * Runs the pieces that have not run yet. As many working pieces run at once as there are cores, in the order of the list. A few
 * waiting parts run beside them, at first each with one piece after another.
 */
export async function runParts(parts: readonly Part[], dose: Dose, say: Say): Promise<PartResult[]> {
  // Some are for a release only.
  const chosen = parts.filter((part) => part.pieces(dose).length > 0);
  const came = new Map<Part, KeptResult[]>(chosen.map((part) => [part, []]));
  const jobsOf = (part: Part): Job[] => {
    const kept = keptOf(part, dose);
    return part.pieces(dose).map((piece) => ({ part, piece, kept }));
  };
  const lane = async (jobs: Iterable<Job>) => {
    for (const job of jobs) came.get(job.part)?.push(await runPiece(job, dose, say));
  };
  const work = chosen
    .filter(({ isWaiting = false }) => !isWaiting)
    .flatMap(jobsOf)
    .values();
  const waiting = chosen.filter(({ isWaiting = false }) => isWaiting).map((part) => jobsOf(part).values());
  const unbegun = waiting.values();
  const lanes = async () => {
    for (const jobs of unbegun) await lane(jobs);
    // No part is left, so this lane helps with the parts that the others have begun.
    for (const jobs of waiting) await lane(jobs);
  };
  await Promise.all([
    ...Array.from({ length: availableParallelism() }, () => lane(work)),
    ...Array.from({ length: MOST_WAITING }, lanes),
  ]);
  return chosen.map((part) => sumOf(part, dose, came.get(part) ?? []));
}

async function runPiece({ part, piece, kept }: Job, dose: Dose, say: Say): Promise<KeptResult> {
  const before = readKept(kept, piece.name);
  if (before !== undefined) return before;
  const sayOf = (text: string) => say(`${part.name}: ${text}`);
  const [at, begun] = [new Date().toISOString(), performance.now()];
  sayOf(`${piece.name} begins`);
  const came = await runInProcess(part, dose, piece.name, sayOf).catch(failed);
  const result = { ...came, commit: commit(), at, durationMs: Math.round(performance.now() - begun) };
  sayOf(`${piece.name} took ${Math.round(result.durationMs / 1_000)} s`);
  for (const violation of result.violations) sayOf(`BROKEN ${violation}`);
  keep(kept, piece.name, result);
  return result;
}

function failed(error: unknown) {
  return { counts: {}, violations: [`it could not run: ${error instanceof Error ? error.stack : String(error)}`] };
}

/** A part that did less than it must has not shown what it is there for. */
export function sumOf(part: Part, dose: Dose, results: readonly KeptResult[]): PartResult {
  const counts: Record<string, number> = {};
  for (const result of results) {
    for (const [name, count] of Object.entries(result.counts)) counts[name] = (counts[name] ?? 0) + count;
  }
  const tooFew = Object.entries(part.least(dose))
    .filter(([name, least]) => (counts[name] ?? 0) < least)
    .map(([name, least]) => `only ${counts[name] ?? 0} ${name}, at least ${least} are wanted`);
  return {
    part,
    counts,
    violations: [...results.flatMap(({ violations }) => violations), ...tooFew],
    commits: [...new Set(results.map((result) => result.commit))],
    at: results.map(({ at }) => at).toSorted()[0] ?? '',
    durationMs: results.reduce((sum, { durationMs }) => sum + durationMs, 0),
  };
}
