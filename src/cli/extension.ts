import type { AppParts } from '../app.ts';
import type { ServiceMaker } from '../daemon.ts';
import type { LoadDriver } from '../store/open.ts';
import type { Commands } from './commands.ts';
import type { SettingsPart } from '../settings/settings.ts';

/**
 * A folder of `src/extensions` that can be deleted, with its line in `src/extensions.ts`. The core imports none; what an
 * extension adds to the program stands here.
 */
export interface Extension {
  readonly name: string;
  readonly commands?: Commands;
  readonly settings?: () => Promise<SettingsPart>;
  /** Loaded when a process drives accounts. */
  readonly parts?: () => Promise<AppParts>;
  /** Loaded when a daemon starts, with all extensions. */
  readonly service?: (extensions: readonly Extension[]) => Promise<ServiceMaker>;
  /** A kind of database beside SQLite. */
  readonly database?: LoadDriver;
}
