import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { backUp } from '../../../src/extensions/restore/tables/backup.ts';
import { Chance } from '../plan/chance.ts';
import { live } from '../world.ts';
import type { Mode } from './mode.ts';
import { Accepting, isOlderThanMark, planForFiles, readState } from './older-copy.ts';
import type { Machine, Trial } from './trial.ts';

const MOST_COPIES = 4;
const KINDS = ['files', 'db backup'] as const;
/** The mark beside the copy: the newer one, that of its own time, or none, as on another machine. */
const MARKS = ['newer', 'of its time', 'none'] as const;
const LEAST_STEPS = 1;
const MOST_STEPS = 40;

/**
 * Worlds in which a copy of the database is put in place of it later: the plain files with their log, or one that `db backup` made,
 * with the mark that is newer, the mark of its time, or none. If the mark shows it, the program must refuse. In any case a person
 * accepts it: orders that may have been sent are taken for sent, or if none was, they may say so. No order that left before is sent
 * again, and every order at the exchange is found again. Orders that the shop inserted after the copy was made, and their import, are
 * not tried here; nor are limits of creates, which a copy has forgotten.
 */
export const restored: Mode = {
  name: 'restored',
  run: async (seed, ground) => await live(planForFiles(seed), ground, new Copies(new Chance(seed + 8_000_009))),
};

interface Copy {
  readonly path: string;
  readonly kind: (typeof KINDS)[number];
  readonly creates: number;
}

class Copies implements Trial {
  readonly counts = { copies: 0, refused: 0 };
  readonly #chance: Chance;
  readonly #accepting: Accepting;
  #stepsLeft: number;
  #copy: Copy | undefined;

  constructor(chance: Chance) {
    this.#chance = chance;
    this.#accepting = new Accepting(chance);
    this.#stepsLeft = this.#steps();
  }

  dies(_where: string, { isOpening }: Machine): boolean {
    return !isOpening && this.#chance.next() < 0.0005;
  }

  async afterStep(machine: Machine): Promise<void> {
    await this.#accepting.afterStep(machine);
    if (machine.isCalm || machine.isOpening || this.#accepting.isWaiting || this.counts.copies >= MOST_COPIES) return;
    this.#stepsLeft -= 1;
    if (this.#stepsLeft > 0 || readState(machine.path).orders < machine.plan.orders.length) return;
    this.#stepsLeft = this.#steps();
    if (this.#copy === undefined) this.#copy = await this.#make(machine);
    else {
      await this.#putBack(machine, this.#copy);
      this.#copy = undefined;
    }
  }

  #steps(): number {
    return LEAST_STEPS + this.#chance.below(MOST_STEPS);
  }

  async #make({ path, scheduler, observer }: Machine): Promise<Copy> {
    const kind = this.#chance.of(KINDS);
    const copy = `${path}.copy`;
    removeCopy(copy);
    if (kind === 'db backup') await backUp(path, copy);
    else for (const ending of ['', '-wal']) copyFileSync(`${path}${ending}`, `${copy}${ending}`);
    if (existsSync(`${path}.mark`)) copyFileSync(`${path}.mark`, `${copy}.mark`);
    scheduler.note(`a copy is made: ${kind}`);
    return { path: copy, kind, creates: observer.creates };
  }

  async #putBack(machine: Machine, { path: copy, kind, creates }: Copy): Promise<void> {
    const { path, scheduler, observer } = machine;
    const mark = this.#chance.of(MARKS);
    await machine.replaceFiles(() => {
      for (const ending of ['', '-wal', '-shm']) rmSync(`${path}${ending}`, { force: true });
      for (const ending of ['', '-wal'])
        if (existsSync(`${copy}${ending}`)) copyFileSync(`${copy}${ending}`, `${path}${ending}`);
      if (mark !== 'newer') rmSync(`${path}.mark`, { force: true });
      if (mark === 'of its time' && existsSync(`${copy}.mark`)) copyFileSync(`${copy}.mark`, `${path}.mark`);
      const state = readState(path);
      const isMarked = existsSync(`${path}.mark`);
      machine.isOlder = isMarked ? isOlderThanMark(state, path) : state.eventId > 0 || kind === 'db backup';
      removeCopy(copy);
    });
    this.counts.copies += 1;
    if (machine.isOlder) this.counts.refused += 1;
    else machine.waitForPerson();
    const isNothingSent = observer.creates === creates && this.#chance.next() < 0.5;
    scheduler.note(`a copy is put in place: ${kind}, mark ${mark}, ${machine.isOlder ? 'shown' : 'not shown'}`);
    observer.restored();
    observer.died();
    this.#accepting.plan(machine, isNothingSent);
  }
}

function removeCopy(copy: string): void {
  for (const ending of ['', '-wal', '-shm', '.mark']) rmSync(`${copy}${ending}`, { force: true });
}
