import { existsSync, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IS_PACKAGE, ROOT } from '../../base/places.ts';
import { shellWord } from '../../base/text.ts';
import { processEnvironment } from '../../settings/config.ts';

const FOLDER = fileURLToPath(ROOT);
const LAUNCHER = join(FOLDER, 'src', 'bin.mjs');

/** Returns the words that call this program on the settings of a file, the usual one unless given: in any folder, or in this one. */
export function callOn(settingsFile: string | null | undefined, isAnywhere = false): string {
  const name = programName(isAnywhere);
  return typeof settingsFile === 'string' ? `${name} --config ${shellWord(settingsFile)}` : name;
}

/** `npx` is named only if it finds this program: otherwise it would ask a registry for a package of that name. */
function programName(isAnywhere: boolean): string {
  const cwd = process.cwd();
  const path = processEnvironment()['PATH'] ?? '';
  const onPath = path.split(delimiter).filter((folder) => folder !== '' && !folder.includes('node_modules'));
  if (onPath.some((folder) => isSame(join(folder, 'order-sync'), LAUNCHER))) return 'order-sync';
  const folders = [cwd, join(cwd, 'node_modules', 'order-sync')];
  if (!isAnywhere && folders.some((folder) => isSame(folder, FOLDER))) return 'npx order-sync';
  return IS_PACKAGE && !isAnywhere ? 'order-sync' : shellWord(LAUNCHER);
}

function isSame(path: string, other: string): boolean {
  return existsSync(path) && realpathSync(path) === realpathSync(other);
}
