import type { Database } from '../../store/port.ts';
import type { FlowDeps } from './deps.ts';

/** A pass for which each account is visited from time to time, even when nothing in it is due. */
export interface Sweep {
  readonly name: string;
  /** When it begins; undefined if it never does. */
  readonly cron: string | undefined;
  readonly isAtStart: boolean;
  /** Reads in which of these accounts it has work. */
  accounts(db: Database, names: readonly string[]): Promise<readonly string[]>;
  run(deps: FlowDeps, stop: AbortSignal, since?: Date): Promise<void>;
}

/** The settings of sweeps; an extension reads its own. */
export interface SweepSettings {
  readonly reconcile: { readonly cron?: string | undefined };
}

export type SweepMaker = (settings: SweepSettings) => Sweep;
