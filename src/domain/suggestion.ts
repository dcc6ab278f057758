import { distance } from 'fastest-levenshtein';

/** Names that differ in more letters, or in more than this part of them, are not taken for one another. */
const MOST_SLIPS = 3;
const MOST_SLIPS_OF_A_LETTER = 0.4;
const LONGEST_NAME = 100;

/**
 * The known name that was probably meant: the same in other letter case, one that begins with what was given or ends with
 * it after a dot, or the one with the fewest slips; undefined where none is near.
 */
export function suggestion(given: string, known: readonly string[]): string | undefined {
  if (given === '' || given.length > LONGEST_NAME) return undefined;
  const text = given.toLowerCase();
  const names = known.map((name) => ({ name, lower: name.toLowerCase() }));
  const found =
    names.find(({ lower }) => lower === text) ??
    names.find(({ lower }) => lower.startsWith(text)) ??
    names.find(({ lower }) => lower.endsWith(`.${text}`));
  return found?.name ?? nearest(text, names);
}

function nearest(
  text: string,
  names: readonly { readonly name: string; readonly lower: string }[],
): string | undefined {
  const [best] = names
    .map(({ name, lower }) => ({ name, slips: distance(text, lower), length: Math.max(text.length, lower.length) }))
    .filter(({ slips, length }) => slips <= MOST_SLIPS && slips <= length * MOST_SLIPS_OF_A_LETTER)
    .toSorted((one, other) => one.slips - other.slips);
  return best?.name;
}
