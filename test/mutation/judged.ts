import { readFileSync } from 'node:fs';
import type { Survivor } from './mutants.ts';

/** Mutants that no test can kill, by file: why, and each as `code ⇒ mutant`. */
type Judged = Readonly<Record<string, readonly { readonly reason: string; readonly mutants: readonly string[] }[]>>;

/** Tells the survivors that somebody has judged from the others. A judgement holds for the code that it quotes. */
export function judge(survivors: readonly Survivor[]): { readonly judged: number; readonly left: readonly Survivor[] } {
  const all = JSON.parse(readFileSync(new URL('judged.json', import.meta.url), 'utf8')) as Judged;
  const known = new Set(
    Object.entries(all).flatMap(([file, entries]) =>
      entries.flatMap(({ mutants }) => mutants.map((mutant) => `${file}: ${mutant}`)),
    ),
  );
  const left = survivors.filter((one) => !known.has(`${one.file}: ${quoted(one)}`));
  return { judged: survivors.length - left.length, left };
}

/** A mutant as the list of the judged ones quotes it. */
export function quoted({ code, mutant }: Survivor): string {
  return `${code} ⇒ ${mutant}`;
}
