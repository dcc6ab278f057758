import type { PlantedBug } from '../bug.ts';

const FLOW = 'src/orders/fail-over.ts';
const TWICE = /no order is created twice|unknown is never re-sent/;

/** Bugs in going on after the promotion of a standby that lacks the last commits. */
export const FAIL_OVER_BUGS: readonly PlantedBug[] = [
  {
    name: 'fail-over-bound-counts-what-is-sent',
    text: 'after a fail-over the orders that may have been sent are counted by the rate alone',
    breaks: TWICE,
    mode: 'promoted',
    edits: [
      {
        file: 'src/accounts/rules/fail-over.ts',
        in: 'mostRowsRead',
        from: 'windows * requests * rowsRead + 2 * concurrency',
        to: 'windows * requests',
      },
    ],
  },
  {
    name: 'fail-over-is-not-taken-up',
    text: 'an owner that notices a fail-over does nothing about it',
    breaks: TWICE,
    mode: 'promoted',
    edits: [{ file: FLOW, in: 'takeUpFailOvers', from: 'markedAt === undefined', to: 'markedAt !== undefined' }],
  },
  {
    name: 'absence-frees-what-a-fail-over-left-in-doubt',
    text: 'an order that a fail-over left in doubt is sent again once look-ups find no order',
    breaks: TWICE,
    mode: 'promoted',
    edits: [
      {
        file: 'src/orders/rules/create.ts',
        in: 'assumeSent',
        from: 'resends: tracking.resends + 1',
        to: 'resends: tracking.resends',
      },
      { file: FLOW, in: 'mark', from: 'row.resends === 0', to: 'row.resends < 0' },
    ],
  },
  {
    name: 'rate-window-is-empty-after-a-fail-over',
    text: 'after a fail-over the window of the rate begins empty',
    breaks: /rate kept/,
    mode: 'promoted',
    edits: [{ file: 'src/app.ts', in: 'takeOver', from: 'newestAt === undefined ?', to: 'newestAt !== 0 ?' }],
  },
  {
    name: 'correction-after-a-fail-over-is-sent',
    text: 'a row that was corrected once more after a fail-over is sent, though it may have been sent before',
    breaks: TWICE,
    mode: 'promoted',
    edits: [
      {
        file: 'src/orders/create.ts',
        in: 'recheckCorrected',
        from: 'failOver !== undefined',
        to: 'failOver === null',
      },
    ],
  },
  {
    name: 'event-ids-are-used-again-after-a-fail-over',
    text: 'after a fail-over new events get the ids of the events that the promoted standby lacked',
    breaks: /no event id is used twice/,
    mode: 'promoted',
    edits: [
      {
        file: 'src/extensions/postgres/writer.ts',
        in: 'AccountTransactions.#numberEvents',
        from: 'numbering.timeLine === timeLine',
        to: 'numbering.timeLine !== timeLine',
      },
    ],
  },
];
