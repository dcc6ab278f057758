import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IS_PACKAGE, ROOT } from '../../base/places.ts';
import { shellWord } from '../../base/text.ts';

const FOLDER = fileURLToPath(ROOT);
const LAUNCHER = join(FOLDER, 'src', 'bin.mjs');

/**
 * Returns the words that call this program in any folder, or, with `npx`, in this one. `npx` is named only if it finds this
 * program: otherwise it would ask a registry for a package of that name.
 */
export function programName(cwd: string, path: string, isAnywhere = false): string {
  const onPath = path.split(delimiter).filter((folder) => folder !== '' && !folder.includes('node_modules'));
  if (onPath.some((folder) => isSame(join(folder, 'order-sync'), LAUNCHER))) return 'order-sync';
  const folders = [cwd, join(cwd, 'node_modules', 'order-sync')];
  if (!isAnywhere && folders.some((folder) => isSame(folder, FOLDER))) return 'npx order-sync';
  return IS_PACKAGE && !isAnywhere ? 'order-sync' : shellWord(LAUNCHER);
}

function isSame(path: string, other: string): boolean {
  return existsSync(path) && realpathSync(path) === realpathSync(other);
}
