import type { Command } from 'commander';
import type { AppParts } from '../app.ts';
import type { ServiceMaker } from '../daemon.ts';
import type { SettingsPart } from '../settings/settings.ts';
import type { AccountScope } from './shared/account.ts';

type Define = (command: Command) => void;

type Load = () => Promise<{ readonly define: Define | Readonly<Record<string, Define>> }>;

/** A module is loaded when one of its commands is called: to load all of them takes longer than most commands take. */
type Entry = readonly [text: string, load: Load, scope?: AccountScope];

/** A group of commands. Extensions that add commands to the group of another leave out its text. */
interface Group {
  readonly text?: string;
  readonly example?: string;
  readonly commands: Entries;
}

export type Entries = Readonly<Record<string, Entry | Group>>;

export type Heading = 'First steps:' | 'Every day:' | 'The exchange, as it answers now:' | 'Other:';

/** Commands by the heading under which the help has them. */
export type Commands = Partial<Readonly<Record<Heading, Entries>>>;

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
}
