import type { PlantedBug } from '../bug.ts';

/** Bugs in the store: transactions, groups of commits, the chain of events. */
export const STORE_BUGS: readonly PlantedBug[] = [
  {
    name: 'unknown-commit-taken-for-undone',
    text: 'a commit whose connection was lost is taken for undone, and made again',
    breaks: /no bug|one event a change/,
    edits: [
      {
        file: 'src/store/postgres/writer.ts',
        in: 'AccountTransactions.#wasCommitted',
        from: "owner?.['last_commit'] === name",
        to: "owner?.['last_commit'] === undefined",
      },
    ],
  },
  {
    name: 'result-before-the-commit',
    text: 'who writes has the result before the transaction is committed',
    breaks: /intent before send/,
    edits: [
      {
        file: 'src/store/group-writer.ts',
        in: 'GroupWriter.#commit',
        from: 'return done;',
        to: 'group.forEach((one, index) => one.resolve(done[index]));\n        return done;',
      },
    ],
  },
];
