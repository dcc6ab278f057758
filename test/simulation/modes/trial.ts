import type { Observer } from '../observer/observer.ts';
import type { Scheduler } from '../scheduler.ts';
import type { WrapStatement } from '../process.ts';
import type { Plan } from '../plan/plan.ts';
import type { PlannedSettings } from '../plan/settings.ts';

/** The machine that a world's program, shop and person run on, as a trial takes its files away. */
export interface Machine {
  readonly plan: Plan;
  readonly path: string;
  readonly scheduler: Scheduler;
  readonly observer: Observer;
  readonly isCalm: boolean;
  /** Tells whether an older copy was put in place that no person has accepted, and the program must refuse. */
  isOlder: boolean;
  /** Tells whether a process is just opening the file: it cannot be ended now. */
  readonly isOpening: boolean;
  /** Ends everything that has the files open, changes them, and opens them again. */
  replaceFiles(change: () => void): Promise<void>;
  /** Keeps the next process from starting until a person has accepted. */
  waitForPerson(): void;
  /** A standby has received what is committed. */
  received(): void;
  /** Takes the server away with the process that owns the account, and continues with the standby that `change` puts in place. */
  promote(promotion: Promotion, change: () => void): Promise<void>;
  /** A person asks the exchange about the orders that fail-overs left in doubt, and decides on all. Returns how many there were. */
  decideFailOvers(): Promise<number>;
  /** Other transactions have the rows of these orders locked. */
  readonly lockedRows: Set<string>;
  /** There may be work. */
  wake(): void;
  /** The ids of the orders that are due first. */
  firstDue(most: number): readonly string[];
  readonly hasRejected: boolean;
  /** Puts other limits into the settings: the next process has them. */
  reload(limits: Limits): void;
  /** Ends the process; another one begins after a while. */
  endProcess(where: string): void;
  /** A person pauses creates, or resumes them. */
  pauseCreates(): Promise<void>;
  resume(): void;
  /** A person has the orders sent again that were rejected, as far as that creates none twice. */
  retryRejected(): void;
  /** A person accepts the older copy with nothing running, and starts the program. */
  accept(isNothingSent: boolean, wrap?: WrapStatement): Promise<void>;
}

/** The promotion of a standby: when the lost owner's last heartbeat was that it received, and when that process comes back. */
export interface Promotion {
  readonly heardAt: number;
  readonly reportsAfterMs: number | undefined;
}

/** The limits of requests by the settings. */
export type Limits = Pick<PlannedSettings, 'rate' | 'concurrency'>;

/** The changes of the files of a world, beside its plan. */
export interface Trial {
  readonly counts: Readonly<Record<string, number>>;
  /** Tells whether the process dies at this place. */
  dies(where: string, machine: Machine): boolean;
  /** Between two steps nothing runs. */
  afterStep(machine: Machine): Promise<void>;
}
