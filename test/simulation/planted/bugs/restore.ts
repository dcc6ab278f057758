import type { PlantedBug } from '../bug.ts';

const MARK = 'src/store/sqlite/mark.ts';

/** Bugs in noticing that a database was put back to an older state, and in going on from there. */
export const RESTORE_BUGS: readonly PlantedBug[] = [
  {
    name: 'older-copy-is-not-noticed',
    text: 'the database is not compared with its mark',
    breaks: /an older copy is noticed|no order is created twice|unknown is never re-sent/,
    mode: 'restored',
    edits: [{ file: MARK, in: 'FileMark.assertNotOlder', from: 'sign !== undefined', to: 'sign === null' }],
  },
  {
    name: 'mark-is-not-followed',
    text: 'the mark names the first commit of a process, and none after it',
    breaks: /an older copy is noticed|no order is created twice|unknown is never re-sent/,
    mode: 'restored',
    notCaught: 'the observer takes how far a database had come from its mark',
    edits: [
      { file: 'src/store/mark.ts', in: 'MarkFollower.committed', from: 'this.#writing ??= this.#follow();', to: '' },
    ],
  },
  {
    name: 'older-in-events-and-in-owners',
    text: 'a database counts as older than its mark only if it lacks both events and owners',
    breaks: /an older copy is noticed|no order is created twice|unknown is never re-sent/,
    mode: 'restored',
    edits: [{ file: 'src/store/mark.ts', in: 'isBefore', from: ' || ', to: ' && ' }],
  },
  {
    name: 'restored-pending-is-sent',
    text: 'an order that is pending in a restored database counts as not sent',
    breaks: /an older copy is noticed|no order is created twice|unknown is never re-sent/,
    mode: 'restored',
    edits: [{ file: 'src/extensions/restore/restore.ts', in: 'LEFT', from: "'pending', ", to: '' }],
  },
];
