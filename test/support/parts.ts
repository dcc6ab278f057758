import type { AppParts } from '../../src/app.ts';
import { partsOf } from '../../src/cli/shared/extensions.ts';
import { EXTENSIONS } from '../../src/extensions.ts';
import type { Activities } from '../../src/extensions/health/activity.ts';

/** The parts that all extensions add to an account. */
export const PARTS: AppParts = await partsOf(EXTENSIONS);

/** The same in a daemon, which keeps the state of each account as well. */
export function partsWith(activities: Activities): AppParts {
  return { ...PARTS, listeners: [activities.listener, ...(PARTS.listeners ?? [])] };
}
