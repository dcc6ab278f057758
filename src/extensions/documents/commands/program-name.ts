import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IS_PACKAGE, ROOT } from '../../../base/places.ts';
import { shellWord } from '../../../base/text.ts';
import { wrapped } from '../../../cli/shared/terminal.ts';
import { screenOf } from '../../../cli/shared/help.ts';

const FOLDER = fileURLToPath(ROOT);

/** `npx` is named only if it finds this program: otherwise it would ask a registry for a package of that name. */
function programName(): string {
  const folders = [process.cwd(), join(process.cwd(), 'node_modules', 'order-sync')];
  const isHere = (folder: string) => existsSync(folder) && realpathSync(folder) === realpathSync(FOLDER);
  if (folders.some(isHere)) return 'npx order-sync';
  return IS_PACKAGE ? 'order-sync' : shellWord(join(FOLDER, 'src', 'bin.mjs'));
}

export function nextSteps(steps: readonly (readonly [args: string, text: string])[], settingsFile?: string): string {
  const call = [programName(), ...(settingsFile === undefined ? [] : ['--config', shellWord(settingsFile)])].join(' ');
  const { width } = screenOf();
  return steps.map(([args, text]) => `  ${call} ${args}\n    ${wrapped(text, width, 4)}\n`).join('');
}
