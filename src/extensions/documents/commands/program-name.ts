import { processEnvironment } from '../../../settings/config.ts';
import { shellWord } from '../../../base/text.ts';
import { programName } from '../../../cli/shared/program-name.ts';
import { wrapped } from '../../../cli/shared/terminal.ts';
import { screenOf } from '../../../cli/shared/help.ts';

export function nextSteps(steps: readonly (readonly [args: string, text: string])[], settingsFile?: string): string {
  const name = programName(process.cwd(), processEnvironment()['PATH'] ?? '');
  const call = [name, ...(settingsFile === undefined ? [] : ['--config', shellWord(settingsFile)])].join(' ');
  const { width } = screenOf();
  return steps.map(([args, text]) => `  ${call} ${args}\n    ${wrapped(text, width, 4)}\n`).join('');
}
