interface Locked {
  readonly [fact: string]: unknown;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

export interface Lock {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Locked>>;
}

/** The part of a lock that `root` needs, with the same versions in the same places. */
export function lockOf(lock: Lock, root: Locked & { readonly name: string }) {
  const needed = new Set<string>();
  const waiting: { readonly path: string; readonly entry: Locked }[] = [{ path: '', entry: root }];
  for (const { path, entry } of waiting) {
    for (const name of Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })) {
      const found = placeOf(lock, path, name);
      if (found === undefined || needed.has(found)) continue;
      needed.add(found);
      waiting.push({ path: found, entry: lock.packages[found] ?? {} });
    }
  }
  const kept = [...needed].toSorted().map((path) => [path, lock.packages[path]] as const);
  const { lockfileVersion } = lock;
  const packages = { '': root, ...Object.fromEntries(kept) };
  return { name: root.name, version: root.version, lockfileVersion, requires: true, packages };
}

/** Returns the place in which Node finds the package `name` from the one in `path`: in its own folder, or in one above. */
function placeOf(lock: Lock, path: string, name: string): string | undefined {
  const folders = path.split(/(?:^|\/)node_modules\//).slice(1);
  for (let depth = folders.length; depth >= 0; depth -= 1) {
    const place = [...folders.slice(0, depth), name].map((folder) => `node_modules/${folder}`).join('/');
    if (lock.packages[place] !== undefined) return place;
  }
  return undefined;
}
