/** Returns a generator (mulberry32) of numbers in [0, 1). Equal seeds generate equal numbers. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export function randomHex(random: () => number): string {
  return Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16)).join('');
}

/** Finds the name in an id or e-mail address `<prefix><name>-…`. If several names fit, returns the longest. */
export function nameAfter<Name extends string>(prefix: string, text: string, names: readonly Name[]): Name | undefined {
  return names.filter((name) => text.startsWith(`${prefix}${name}-`)).toSorted((a, b) => b.length - a.length)[0];
}

export function valueAfter<Value>(prefix: string, text: string, table: Readonly<Record<string, Value>>) {
  const name = nameAfter(prefix, text, Object.keys(table));
  return name === undefined ? undefined : table[name];
}
