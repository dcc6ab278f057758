import type { PlantedBug } from '../bug.ts';

const HEARTBEATS = 'src/extensions/postgres/sharing/heartbeats.ts';
const LEASES = 'src/extensions/postgres/sharing/leases.ts';

/** Bugs in the sharing of accounts that only processes show that live at the same time. */
export const WORKER_BUGS: readonly PlantedBug[] = [
  {
    name: 'trusted-from-the-answer',
    text: 'a worker trusts itself from the answer to its heartbeat on, and not from the beginning of the renewal',
    breaks: /one owner an account/,
    edits: [
      { file: LEASES, in: 'Worker.beat', from: 'this.#renewed = began;', to: 'this.#renewed = momentOf(clock);' },
    ],
  },
  {
    name: 'over-while-it-is-trusted',
    text: 'a worker is declared over as soon as it has missed a heartbeat, while it still trusts itself',
    breaks: /one owner an account/,
    edits: [
      {
        file: HEARTBEATS,
        in: 'WorkerView.#overAt',
        from: 'return Math.min(Math.max(this.#monotonic(seen.seenUntil), seen.at + TRUSTED_MS), seen.at + SILENT_MS);',
        to: 'return this.#monotonic(seen.seenUntil) - HEARTBEAT_MS / 2;',
      },
    ],
  },
  {
    name: 'stopped-owner-sends-nothing-more',
    text: 'requests that a stopped owner had begun, and that leave when it wakes, do not count for the next owner',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASES,
        in: 'Leases.#hold',
        from: 'holder === null ? undefined : view.trustedUntil(holder, clock.monotonic())',
        to: 'undefined',
      },
    ],
  },
  {
    name: 'group-is-taken-in-parts',
    text: 'accounts that share a limit are driven by different workers, where the row of one of them was locked',
    breaks: /rate kept/,
    edits: [
      { file: LEASES, in: 'Leases.claim', from: 'group.every(', to: 'group.some(' },
      {
        file: LEASES,
        in: 'Leases.claim',
        from: 'groups.filter(isWhole).flatMap((group) => group.map(hold))',
        to: 'groups.flat().filter((account) => claimed.has(account)).map(hold)',
      },
    ],
  },
  {
    name: 'former-owner-writes',
    text: 'a transaction of an owner is not refused where another has followed it',
    breaks: /a person decides|unknown is never re-sent|one event a change|moves of the table|the chain is whole|no bug/,
    edits: [
      {
        file: 'src/store/tables/accounts.ts',
        in: 'assertNewestOwner',
        from: 'newest !== generation',
        to: '(newest ?? 0) < generation',
      },
      {
        file: 'src/extensions/postgres/writer.ts',
        in: 'AccountTransactions.#lockAccount',
        from: 'and generation = ${generation} ${isLast}',
        to: 'and generation >= ${generation}',
      },
    ],
  },
];
