import type { PlantedBug } from '../bug.ts';

/** Bugs in the store: transactions, groups of commits, the chain of events. */
export const STORE_BUGS: readonly PlantedBug[] = [
  {
    name: 'unknown-commit-taken-for-undone',
    text: 'a commit whose connection was lost counts as undone, and is made again',
    breaks: /no bug|one event a change|what was committed stays/,
    mode: 'themed',
    edits: [
      {
        file: 'src/extensions/postgres/writer.ts',
        in: 'AccountTransactions.#wasCommitted',
        from: 'owner?.last_commit === name',
        to: 'owner?.last_commit === undefined',
      },
    ],
  },
  {
    name: 'heads-of-a-transaction-that-failed',
    text: 'a transaction that is tried again continues the chain of the one that failed',
    breaks: /the chain is whole/,
    edits: [
      {
        file: 'src/store/group-writer.ts',
        in: 'GroupWriter.#commit',
        from: `await this.#mark?.assertNotOlder(tx);
        heads = new Map();`,
        to: 'await this.#mark?.assertNotOlder(tx);',
      },
    ],
  },
  {
    name: 'chain-without-the-hash-before',
    text: 'the hash of an event leaves out the one before it',
    breaks: /the chain is whole/,
    edits: [
      {
        file: 'src/store/tables/chain.ts',
        in: 'appendToChain',
        from: 'hashedText(head.hash, stored)',
        to: "hashedText('', stored)",
      },
    ],
  },
  {
    name: 'stale-save-passes',
    text: 'a program of the merchant that saves a whole row as it read it overwrites our columns',
    breaks: /row equals last event|no stale/,
    edits: [
      {
        file: 'migrations/rules.ts',
        in: 'QUICK_MOVES',
        from: 'new.revision is distinct from old.revision + 1 and',
        to: 'new.revision is distinct from old.revision + 1 and new.revision > old.revision and',
      },
    ],
  },
  {
    name: 'result-before-the-commit',
    text: 'a write returns its result before the transaction is committed',
    breaks: /intent before send|what was committed stays/,
    edits: [
      {
        file: 'src/store/group-writer.ts',
        in: 'GroupWriter.#commit',
        from: 'return done;',
        to: 'group.forEach((one, index) => one.resolve(done[index]));\n        return done;',
      },
    ],
  },
  {
    name: 'finding-is-never-resolved',
    text: 'a finding that is no longer true stays open',
    breaks: /findings exact/,
    edits: [
      {
        file: 'src/findings/record-findings.ts',
        in: 'recordFindings',
        from: 'decideFindings(known, news, classes)',
        to: 'decideFindings(known, news, [])',
      },
    ],
  },
  {
    name: 'other-echo-without-its-finding',
    text: 'an echo that differs from the order brings no finding',
    breaks: /findings exact/,
    notCaught: 'the observer derives no findings of an echo',
    edits: [
      {
        file: 'src/orders/record-outcome.ts',
        in: 'noteCreated',
        from: '...outcome.differences,',
        to: '',
      },
    ],
  },
  {
    name: 'event-is-not-counted',
    text: 'the counts that are kept with the end of a chain leave events out',
    breaks: /counts equal the rows/,
    edits: [
      { file: 'src/store/tables/chain.ts', in: 'appendToChain', from: 'countEvent(head.counts, event);', to: '' },
    ],
  },
  {
    name: 'sum-through-a-float',
    text: 'amounts are added up as binary numbers',
    breaks: /sums are exact|the report adds up|reports equal the rows/,
    edits: [
      {
        file: 'src/base/decimal.ts',
        in: 'DecimalSum.#addPlain',
        from: 'BigInt(',
        to: 'BigInt(+',
      },
    ],
  },
];
