import type { ServiceMaker } from '../daemon.ts';
import type { PaceMaker } from '../orders/pass/pace.ts';
import type { Commands } from './commands.ts';

/**
 * A folder of `src/extensions` that can be deleted, with its line in `src/extensions.ts`. The core imports none; what an
 * extension adds to the program stands here.
 */
export interface Extension {
  readonly name: string;
  readonly commands?: Commands;
  /** Loaded when this process looks orders up: how soon it does, in place of each tick. */
  readonly makePaces?: () => Promise<PaceMaker>;
  /** Loaded when a daemon starts, with all extensions. */
  readonly service?: (extensions: readonly Extension[]) => Promise<ServiceMaker>;
}
