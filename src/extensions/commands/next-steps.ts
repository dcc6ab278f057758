import { callOn } from '../../cli/shared/invocation.ts';
import { wrapped } from '../../cli/shared/terminal.ts';
import { screenOf } from '../../cli/shared/help.ts';

export function nextSteps(steps: readonly (readonly [args: string, text: string])[], settingsFile?: string): string {
  const call = callOn(settingsFile);
  const { width } = screenOf();
  return steps.map(([args, text]) => `  ${call} ${args}\n    ${wrapped(text, width, 4)}\n`).join('');
}
