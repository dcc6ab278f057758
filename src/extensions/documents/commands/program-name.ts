import { processEnvironment } from '../../../settings/config.ts';
import { shellWord } from '../../../base/text.ts';
import { programName } from '../../../cli/shared/program-name.ts';
import { wrapped } from '../../../cli/shared/terminal.ts';
import { screenOf } from '../../../cli/shared/help.ts';

/** Returns the words that call this program on the settings of a file, the usual one unless given. */
export function callOn(settingsFile?: string): string {
  const name = programName(process.cwd(), processEnvironment()['PATH'] ?? '');
  return settingsFile === undefined ? name : `${name} --config ${shellWord(settingsFile)}`;
}

export function nextSteps(steps: readonly (readonly [args: string, text: string])[], settingsFile?: string): string {
  const call = callOn(settingsFile);
  const { width } = screenOf();
  return steps.map(([args, text]) => `  ${call} ${args}\n    ${wrapped(text, width, 4)}\n`).join('');
}
