/** Finds the name in an id or e-mail address `<prefix><name>-…`: the longest of the names that fits, or undefined. */
export function nameAfter<Name extends string>(prefix: string, text: string, names: readonly Name[]): Name | undefined {
  return names.filter((name) => text.startsWith(`${prefix}${name}-`)).toSorted((a, b) => b.length - a.length)[0];
}
