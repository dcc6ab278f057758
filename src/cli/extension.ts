import type { Command } from 'commander';
import type { FollowScope } from '../orders/follow.ts';
import type { SyncResult } from '../orders/sync.ts';
import type { AccountSettings } from '../settings/config.ts';
import type { ProgressLine } from './shared/progress.ts';
import type { AppParts } from '../app.ts';
import type { ServiceMaker } from '../daemon.ts';
import type { Commands } from './commands.ts';
import type { SettingsPart } from '../settings/settings.ts';

export interface DryRunOptions {
  readonly rows: number;
  readonly isJson: boolean;
}

/** Asks the owner of an account to do work, so that this process need not become the owner. */
export interface Beside<Value> extends AsyncDisposable {
  /** Returns undefined if no process took the request. Throws `OwnedError` if this process may not become the owner. */
  ask(): Promise<{ readonly value: Value } | undefined>;
  /** The probable reason why the owner does not answer, for the error message. */
  readonly unreachable: string;
}

/** A pass of `sync` that another process runs. */
export interface AskedPass {
  readonly scope: FollowScope;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly progress: ProgressLine;
  /** Addresses of APIs (`--url`). If there are any, one of the APIs is asked, and no database is opened. */
  readonly urls: readonly string[] | undefined;
}

/** A pass of `sync` that has ended. */
export interface FinishedPass {
  readonly account: string;
  /** Names the place of an account's key; undefined with `--url`, because the key may be on another machine. */
  readonly keyPlaceOf?: ((account: string) => string) | undefined;
  readonly isStopped: boolean;
  /** About how many requests the pass had to make. */
  readonly requests: number | undefined;
}

/** A folder of `src/extensions` that can be deleted, with its lines in `src/extensions.ts`. Each part is optional. */
export interface Extension {
  readonly name: string;
  readonly commands?: Commands;
  /** A paragraph at the head of the help, for new users. */
  readonly welcome?: string;
  readonly settings?: () => Promise<SettingsPart>;
  readonly parts?: () => Promise<AppParts>;
  /** Asks the owner of an account for a pass of `sync`. */
  readonly passBeside?: () => Promise<(config: AccountSettings, asked: AskedPass) => Promise<Beside<SyncResult>>>;
  /** Says how a pass of `sync` ended, and what to do next. */
  readonly syncVerdict?: () => Promise<(result: SyncResult, pass: FinishedPass) => string>;
  /** `run --dry-run`: shows what would be sent. */
  readonly dryRun?: () => Promise<(command: Command, shown: DryRunOptions) => Promise<void>>;
  /** The part that runs in a daemon. Receives all extensions. */
  readonly service?: (extensions: readonly Extension[]) => Promise<ServiceMaker>;
}
