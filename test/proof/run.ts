import { commit, folderOf, keep, readKept, type KeptResult } from './kept.ts';
import type { Dose, Part } from './part.ts';

/** What a part came to: its pieces added up. */
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

/** Runs parts: those that work one after another, and beside them those that wait, one after another too. */
export async function runParts(parts: readonly Part[], dose: Dose, say: Say): Promise<PartResult[]> {
  const lane = async (isWaiting: boolean) => {
    const results: PartResult[] = [];
    for (const part of parts.filter((one) => (one.isWaiting ?? false) === isWaiting)) {
      // Some are for a release only.
      if (part.pieces(dose).length > 0) results.push(await runPart(part, dose, say));
    }
    return results;
  };
  return (await Promise.all([lane(false), lane(true)])).flat();
}

/** Runs the pieces of a part that have not run yet. */
async function runPart(part: Part, dose: Dose, say: Say): Promise<PartResult> {
  const folder = folderOf(part, dose);
  const pieces = part.pieces(dose);
  const results: KeptResult[] = [];
  for (const [index, piece] of pieces.entries()) {
    let result = readKept(folder, piece.name);
    if (result === undefined) {
      say(`${part.name}: ${piece.name}, ${index + 1} of ${pieces.length}`);
      const [at, begun] = [new Date().toISOString(), performance.now()];
      const came = await piece.run((text) => say(`${part.name}: ${text}`)).catch(failed);
      result = { ...came, commit: commit(), at, durationMs: Math.round(performance.now() - begun) };
      for (const violation of result.violations) say(`${part.name}: BROKEN ${violation}`);
      keep(folder, piece.name, result);
    }
    results.push(result);
  }
  return sumOf(part, dose, results);
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
