import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A file that a module imports or names by a URL. */
const NAMED = /(?:from|import|import\()\s*'(\.[^']+)'|new URL\('([^']+)', import\.meta\.url\)/g;

/**
 * The files beside the program that some files lead to, by the imports and URLs in them: whatever else changes, what they come to
 * stays. The paths and patterns are from the root of the repository, and so are the paths that are returned.
 */
export function filesReadBy(root: string, patterns: readonly string[]): readonly string[] {
  const found = new Set(globSync([...patterns], { cwd: root }));
  for (const file of found) {
    if (!file.endsWith('.ts')) continue;
    for (const [, imported, named = ''] of readFileSync(join(root, file), 'utf8').matchAll(NAMED)) {
      const path = join(dirname(file), imported ?? named);
      if (/^(test|bench)\/.*\.\w+$/.test(path)) found.add(path);
    }
  }
  return [...found].toSorted();
}
