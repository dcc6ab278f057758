import type { PlantedBug } from '../bug.ts';

const LEASE = 'src/orders/pass/lease.ts';
const RESTRAINTS = 'src/orders/pass/restraints.ts';
const DECIDE_RESTRAINTS = 'src/accounts/rules/restraints.ts';

/** Bugs in what one owner of an account leaves to the next: the rate, holds, orders in flight, the generation. */
export const OWNER_BUGS: readonly PlantedBug[] = [
  {
    name: 'rate-forgotten-at-restart',
    text: 'requests that the last owner was granted do not count against the rate',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'spentByLastOwner',
        from: 'spent: [...spent, ...granted(lease, latest, accountLease.lastOwnerUntil, limit)]',
        to: 'spent',
      },
    ],
  },
  {
    name: 'spent-requests-forgotten-at-restart',
    text: 'a lease names the granted requests, and not the requests before it in the window',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'RequestLease.#writeWithin',
        from: 'ended.map((spent) => ({ at: after(now, spent.at - monotonic), requests: spent.requests }))',
        to: 'ended.slice(ended.length)',
      },
    ],
  },
  {
    name: 'running-requests-forgotten-at-restart',
    text: 'a lease does not count the requests in flight when it is written',
    breaks: /rate kept/,
    edits: [
      {
        file: LEASE,
        in: 'RequestLease.#writeWithin',
        from: 'requests: running + requests,',
        to: 'requests,',
      },
    ],
  },
  {
    name: 'recovery-sends-again',
    text: 'an order that is found `sending` at the start is pending again',
    breaks: /unknown is never re-sent/,
    edits: [
      {
        file: 'src/orders/recover.ts',
        in: 'recover',
        from: "const outcome = { kind: 'unknown',",
        to: "const outcome = { kind: 'not-sent',",
      },
    ],
  },
  {
    name: 'in-flight-is-recovered',
    text: 'an order whose create is in flight counts as one whose outcome could not be written',
    breaks: /a person decides/,
    edits: [
      {
        file: 'src/orders/recover.ts',
        in: 'recoverUnrecorded',
        from: 'sending.filter((one) => !inFlight.has(one))',
        to: 'sending',
      },
      {
        file: 'src/orders/recover.ts',
        in: 'recoverUnrecorded',
        from: 'inFlight.has(id) ? undefined : (',
        to: '(',
      },
    ],
  },
  {
    name: 'pause-forgotten-at-restart',
    text: 'the holds of the account are read when another program commits, and not at the start',
    breaks: /a pause is kept/,
    edits: [{ file: 'src/app.ts', in: 'startApp', from: 'await restraints.open();', to: '' }],
  },
  {
    name: 'pause-read-only-at-the-start',
    text: 'only the next process heeds a pause that a person sets',
    breaks: /a pause is kept/,
    edits: [
      {
        file: RESTRAINTS,
        in: 'AccountRestraints.read',
        from: '[...stored.filter(({ until }) => until === null), ...own]',
        to: '[...this.all.filter(({ until }) => until === null), ...own]',
      },
    ],
  },
  {
    name: 'pause-of-all-lets-look-ups-go',
    text: 'a pause of everything stops creates alone',
    breaks: /a pause is kept/,
    edits: [
      {
        file: DECIDE_RESTRAINTS,
        in: 'KINDS',
        from: "'all-paused': { stops: ['create', 'lookup'],",
        to: "'all-paused': { stops: ['create'],",
      },
    ],
  },
  {
    name: 'late-owner-goes-on',
    text: 'an owner that wakes late does not see that another owner has followed it',
    breaks: /one owner an account|rate kept|a person decides|unknown is never re-sent/,
    edits: [
      {
        file: LEASE,
        in: 'RequestLease.isTrusted',
        from: 'this.#deps.accountLease.isTrusted()',
        to: 'this.#deps.accountLease.generation > 0',
      },
      {
        file: LEASE,
        in: 'RequestLease.#untilTrusted',
        from: '!accountLease.isTrusted()',
        to: 'accountLease.generation < 0',
      },
      {
        file: 'src/store/tables/accounts.ts',
        in: 'assertNewestOwner',
        from: 'newest !== generation',
        to: '(newest ?? 0) < generation',
      },
      {
        file: 'src/extensions/postgres/writer.ts',
        in: 'AccountTransactions.#lockAccount',
        from: 'and generation = ${generation} ${onLine} ${isLast}',
        to: 'and generation >= ${generation}',
      },
    ],
  },
  {
    name: 'clock-set-back-is-not-noticed',
    text: 'the check for a clock that was set back has the wrong sign',
    breaks: /everything settles or is held|no order is lost/,
    edits: [
      {
        file: 'src/orders/correct-times.ts',
        in: 'clockWatch',
        from: 'aheadMs < lastAheadMs - SET_BACK_MS',
        to: 'aheadMs > lastAheadMs + SET_BACK_MS',
      },
    ],
  },
  {
    name: 'answer-in-flight-ends-the-wait',
    text: 'an answer to a request that left before a 429 ends the wait that it asks for',
    breaks: /Retry-After kept/,
    edits: [
      {
        file: DECIDE_RESTRAINTS,
        in: 'isEndedBy',
        from: 'return until !== null && askedAt >= until;',
        to: 'return until !== null;',
      },
    ],
  },
  {
    name: 'guard-forgets-at-restart',
    text: 'creates of the last hour do not count against `guard.*` after a restart',
    breaks: /limits of creates kept/,
    edits: [{ file: 'src/extensions/guard/create-guard.ts', in: 'createGuard', from: 'await guard.open(db);', to: '' }],
  },
  {
    name: 'guard-off-by-one',
    text: 'one create more than `guard.createsPerHour` is sent',
    breaks: /limits of creates kept/,
    edits: [
      {
        file: 'src/extensions/guard/create-window.ts',
        in: 'CreateWindow.decide',
        from: 'creates + 1 > createsPerHour)',
        to: 'creates > createsPerHour)',
      },
    ],
  },
];
