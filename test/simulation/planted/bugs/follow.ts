import type { PlantedBug } from '../bug.ts';

const FOUND = 'src/orders/rules/follow.ts';
const ABSENT = 'src/orders/rules/absent.ts';

/** Bugs in following orders: what a look-up decides, and when the next one is due. */
export const FOLLOW_BUGS: readonly PlantedBug[] = [
  {
    name: 'disputed-reads-open',
    text: 'an order that contradicts the row counts as ours',
    breaks: /what contradicts never reads as ours/,
    edits: [
      {
        file: FOUND,
        in: 'found',
        from: 'disputeOf(tracking, contradictions, settings)',
        to: 'undefined as string | undefined',
      },
    ],
  },
  {
    name: 'record-that-lacks-settles-a-dispute',
    text: 'a record without the field by which an order is disputed makes the order ours',
    breaks: /what contradicts never reads as ours|no order of ours is disputed/,
    mode: 'themed',
    edits: [
      {
        file: 'src/findings/evidence.ts',
        in: 'compareWithRow',
        from: '[...contradictionsOf(compared, settings), ...before]',
        to: 'contradictionsOf(compared, settings)',
      },
    ],
  },
  {
    name: 'older-record-wins',
    text: 'the record that came last counts, whatever its date',
    breaks: /no older record over a newer one/,
    edits: [
      {
        file: FOUND,
        in: 'found',
        from: 'laterBy(record, tracking.modificationDate, now) < 0n',
        to: 'false',
      },
    ],
  },
  {
    name: 'fiat-status-without-an-event',
    text: 'a change of the status of the fiat transaction has no event',
    breaks: /row equals last event/,
    edits: [
      {
        file: FOUND,
        in: 'statusChanges',
        from: "['fiatTransaction.status', tracking.fiatStatus, record.fiatStatus],",
        to: '',
      },
    ],
  },
  {
    name: 'event-without-a-change',
    text: 'each look-up writes an event of a status, whether it changed or not',
    breaks: /one event a change/,
    edits: [
      {
        file: FOUND,
        in: 'statusChanges',
        from: 'oldValue !== newValue',
        to: 'newValue !== null || oldValue !== null',
      },
    ],
  },
  {
    name: 'status-in-capitals',
    text: 'statuses are compared and stored in capitals',
    breaks: /statuses verbatim/,
    edits: [
      {
        file: 'src/exchange/record-view.ts',
        in: 'readRecordView',
        from: 'orderStatus: storable(status),',
        to: 'orderStatus: storable(status).toUpperCase(),',
      },
    ],
  },
  {
    name: 'resent-before-its-time',
    text: 'a create is sent again while the first one may still arrive',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: ABSENT,
        in: 'mayResend',
        from: 'now.getTime() - tracking.sentAt.getTime() >= RESEND_NOT_BEFORE_MS',
        to: 'now.getTime() >= tracking.sentAt.getTime()',
      },
    ],
  },
  {
    name: 'likely-absence-counts',
    text: 'any 404, or an empty answer, counts as documented absence',
    breaks: /unknown is never re-sent/,
    mode: 'themed',
    edits: [
      {
        file: 'src/exchange/orders.ts',
        in: 'readAbsence',
        from: "(reply.kind === 'refused' && status === 404)",
        to: 'status === 404',
      },
    ],
  },
  {
    name: 'order-never-comes-due',
    text: 'an order of a status that was never seen is looked up in centuries',
    breaks: /no order is lost/,
    edits: [
      {
        file: 'src/extensions/pace/pace.ts',
        in: 'PaceLearner.pace',
        from: 'return boundedGap(hazardsOf(key), sinceChangeMs, priceOf(key), limits);',
        to: 'return byKey.has(key) ? boundedGap(hazardsOf(key), sinceChangeMs, priceOf(key), limits) : 1e13;',
      },
    ],
  },
  {
    name: 'no-wait-after-no-answer',
    text: 'a look-up without an answer is repeated at once',
    breaks: /everything settles/,
    mostSteps: 15_000,
    edits: [
      {
        file: 'src/orders/rules/schedule.ts',
        in: 'afterNoAnswer',
        from: 'after(now, isOutage ? OUTAGE_LOOKUP_MS : unansweredLookupMs(silentMs, random))',
        to: 'now',
      },
    ],
  },
  {
    name: 'moved-past-the-table',
    text: 'an unknown outcome that is sent again becomes pending at once, a move that the table of moves does not have',
    breaks: /no bug|moves of the table/,
    edits: [
      {
        file: ABSENT,
        in: 'resent',
        from: "const pending = move(held.tracking, 'pending', how,",
        to: "const pending = move(tracking, 'pending', how,",
      },
    ],
  },
  {
    name: 'events-outside-of-the-transaction',
    text: 'the events of a look-up are written in a transaction of their own',
    breaks: /row equals last event|one event a change/,
    edits: [
      {
        file: 'src/orders/follow.ts',
        in: 'recordAnswer',
        from: 'await saveDecision(tx, before, decision, now);',
        to: `await saveDecision(tx, before, { ...decision, events: [] }, now);
  const written = { ...before, revision: before.revision + 1 };
  void deps.store.writer.write((later) => saveDecision(later, written, decision, now)).catch(() => {});`,
      },
    ],
  },
  {
    name: 'resent-twice',
    text: 'a create is sent again each time that the absence of its order is documented',
    breaks: /unknown is never re-sent|no bug/,
    mode: 'themed',
    edits: [
      {
        file: ABSENT,
        in: 'mayResend',
        from: 'tracking.resends === 0 &&',
        to: 'tracking.resends >= 0 &&',
      },
    ],
  },
  {
    name: 'resent-after-one-absence',
    text: 'one documented absence is enough to send a create again',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: ABSENT,
        in: 'mayResend',
        from: 'tracking.documentedAbsences >= RESEND_AFTER_ABSENCES',
        to: 'tracking.documentedAbsences > 0',
      },
    ],
  },
];
