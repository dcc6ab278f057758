import { readFileSync } from 'node:fs';
import type { Survivor } from './mutants.ts';

/** A judgement of mutants that survive, each written as `code ⇒ mutant`. */
interface Judgement {
  readonly reason: string;
  /** A test could notice them without any gain. The others do the same as the code: no test can notice them. */
  readonly isAccepted?: boolean;
  readonly mutants: readonly string[];
}

/** The survivors by what somebody has judged of them. */
interface Judged {
  /** No test can notice them. */
  readonly equivalent: readonly Survivor[];
  /** A test could notice it without any gain. */
  readonly accepted: readonly Survivor[];
  readonly left: readonly Survivor[];
}

/** Tells the survivors that somebody has judged from the others. A judgement holds for the code that it quotes. */
export function judge(survivors: readonly Survivor[]): Judged {
  const all = JSON.parse(readFileSync(new URL('judged.json', import.meta.url), 'utf8')) as Record<string, Judgement[]>;
  const judgements = Map.groupBy(survivors, (one) => {
    const judgement = all[one.file]?.find(({ mutants }) => mutants.includes(quoted(one)));
    if (judgement === undefined) return 'left';
    return judgement.isAccepted === true ? 'accepted' : 'equivalent';
  });
  const of = (kind: keyof Judged) => judgements.get(kind) ?? [];
  return { equivalent: of('equivalent'), accepted: of('accepted'), left: of('left') };
}

/** The part of the mutants that the tests kill, of the ones that a test can notice: from 0 to 1. */
export function scoreOf({ mutants, killed, equivalent }: Record<'mutants' | 'killed' | 'equivalent', number>): number {
  return mutants === equivalent ? 1 : killed / (mutants - equivalent);
}

/** A mutant as the list of the judged ones quotes it. */
export function quoted({ code, mutant }: Survivor): string {
  return `${code} ⇒ ${mutant}`;
}
