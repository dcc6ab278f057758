import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Chance } from '../plan/chance.ts';
import { live } from '../world.ts';
import type { Mode } from './mode.ts';
import { Accepting, isOlderThanMark, planForFiles, readState } from './older-copy.ts';
import type { Machine, Trial } from './trial.ts';
import { DAMAGES, Wal } from './wal.ts';

const MOST_LOSSES = 12;
/** A commit is what may tear: most losses of power fall on one. */
const LOST_AT_COMMIT = 0.1;
const LOST_ELSEWHERE = 0.001;
const LIES = 0.15;
/** The most of the last commits that a disk which lies may lose. */
const MOST_COMMITS_LOST = 12;
/** SQLite copies the log into the file only from this on. */
const FRAMES_BEFORE_CHECKPOINT = 3_900;

/**
 * Worlds in which the power is lost with the process. Each commit is synced before it is heard (`synchronous = full`), so only the
 * commit under way may be torn: each of its frames may end early, be damaged or be missing, with all that follows it; behind whole
 * commits stands the beginning of an open transaction. Now and then the disk has lied, and commits are gone that it had said to hold:
 * if the mark names one of them, the program must refuse before it sends anything, and a person accepts. A lie about commits that the
 * mark does not name yet (the last 0.1 s) is shown by nothing, and is not tried. Neither is a checkpoint that is torn, or a file
 * system that loses the mark's own rename. The program runs here without syncs: that it asks for them is read in its tests, not shown
 * here.
 */
export const torn: Mode = {
  name: 'torn',
  run: async (seed, ground) => await live(planForFiles(seed), ground, new PowerLosses(new Chance(seed + 7_000_003))),
};

/** The files as the disk has them when the power is lost. */
interface Lost {
  readonly database: Buffer;
  readonly wal: Wal;
  /** Frames that were synced. */
  readonly synced: number;
}

class PowerLosses implements Trial {
  readonly counts = { tornWals: 0, lies: 0 };
  readonly #chance: Chance;
  readonly #accepting: Accepting;
  #synced = 0;
  #lost: Lost | undefined;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#accepting = new Accepting(chance);
  }

  dies(where: string, { path, isCalm, isOpening }: Machine): boolean {
    if (isCalm || isOpening || this.counts.tornWals >= MOST_LOSSES || this.#accepting.isWaiting) return false;
    if (where === 'before commit') this.#synced = Wal.read(path).frames;
    const isCommit = where === 'after commit';
    if (this.#chance.next() >= (isCommit ? LOST_AT_COMMIT : LOST_ELSEWHERE)) return false;
    const wal = Wal.read(path);
    this.#lost = { database: readFileSync(path), wal, synced: isCommit ? this.#synced : wal.frames };
    return true;
  }

  async afterStep(machine: Machine): Promise<void> {
    await this.#accepting.afterStep(machine);
    const lost = this.#lost;
    if (lost === undefined) return;
    this.#lost = undefined;
    this.counts.tornWals += 1;
    await machine.replaceFiles(() => {
      const isLie = this.#chance.next() < LIES && this.#lie(machine, lost);
      if (!isLie) writeFiles(machine.path, lost.database, this.#tear(machine, lost));
    });
    if (!machine.isOlder) return;
    this.counts.lies += 1;
    machine.observer.restored();
    machine.observer.died();
    this.#accepting.plan(machine, false);
  }

  #tear({ scheduler }: Machine, { wal, synced }: Lost): Buffer {
    const chance = this.#chance;
    const isOpen = synced === wal.frames;
    const bytes = Buffer.concat([wal.bytes, Buffer.alloc(isOpen ? wal.at(1) - wal.at(0) : 0)]);
    if (!isOpen && chance.next() < 0.1) {
      scheduler.note('the power is lost: the commit has reached the disk');
      return bytes;
    }
    const frame = isOpen ? synced : synced + chance.below(wal.frames - synced);
    const damage = chance.of(
      isOpen ? ['other bytes are in the place of', 'the log ends within'] : Object.keys(DAMAGES),
    );
    scheduler.note(`the power is lost: ${damage} frame ${frame} of ${wal.frames}, ${synced} were synced`);
    return DAMAGES[damage]?.(bytes, wal.at(frame), wal.at(frame + 1), chance) ?? bytes;
  }

  /** Writes the files of a disk that lied; false if nothing would show it. */
  #lie(machine: Machine, { database, wal, synced }: Lost): boolean {
    const { path, plan, scheduler } = machine;
    const earlier = wal.commits.filter((end) => end < synced).slice(-MOST_COMMITS_LOST);
    if (earlier.length === 0 || wal.frames > FRAMES_BEFORE_CHECKPOINT) return false;
    const end = this.#chance.of(earlier);
    writeFiles(path, database, wal.bytes.subarray(0, wal.at(end)));
    const state = readState(path);
    // The shop inserts again the rows that it has lost itself, which this does not try.
    if (state.orders < plan.orders.length || !isOlderThanMark(state, path)) return false;
    scheduler.note(`the power is lost, and the disk lied: the log ends at frame ${end}, ${synced} were synced`);
    machine.isOlder = true;
    return true;
  }
}

function writeFiles(path: string, database: Buffer, wal: Buffer): void {
  rmSync(`${path}-shm`, { force: true });
  writeFileSync(path, database);
  writeFileSync(`${path}-wal`, wal);
}
