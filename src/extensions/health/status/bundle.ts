import { RESTRAINT_KINDS } from '../../../accounts/rules/restraints.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';
import type { EventRow } from '../../feed/event.ts';
import type { NamedOrder, Overview, DaemonStatus } from './status.ts';
import type { ConfigSource } from '../../setup/sources.ts';

/** Replaces an id by another name: the same for the same id within a file, and one that means nothing elsewhere. */
export type Pseudonym = (kind: 'account' | 'order' | 'link' | 'text', id: string) => string;

/**
 * Chooses the content of a support file, field by field: counts, times, names of our own and pseudonyms. Text of a
 * person, a merchant or the exchange is left out, or stands as a pseudonym.
 */
export function bundledOverview(overview: Overview, pseudonym: Pseudonym): object {
  const order = (one: NamedOrder | null) =>
    one && {
      account: pseudonym('account', one.account),
      order: pseudonym('order', one.externalOrderId),
      state: one.state,
      since: one.since,
    };
  const {
    orders,
    more,
    findings,
    holds,
    outOfReach,
    unreadable,
    stopped,
    receivers,
    lastEventAt,
    accounts,
    otherAccounts,
  } = overview;
  return {
    orders,
    more,
    newInvalid: overview.newInvalid,
    findings,
    lastEventAt,
    oldestPending: order(overview.oldestPending),
    oldestUnknown: order(overview.oldestUnknown),
    attention: overview.attention.map(order),
    holds: holds.map(({ account, kind, since, until }) => ({
      account: pseudonym('account', account),
      kind,
      since,
      until,
    })),
    receivers: receivers.map(({ name, takenAt, failingSince, nextTryAt, oldestWaiting, parked, deadLetters }) => ({
      receiver: pseudonym('text', name),
      takenAt,
      failingSince,
      nextTryAt,
      oldestWaiting,
      parked,
      deadLetters,
    })),
    outOfReach: outOfReach.map(({ account, since }) => ({ account: pseudonym('account', account), since })),
    unreadable: unreadable.map(({ account, since }) => ({ account: pseudonym('account', account), since })),
    stopped: stopped.map(({ account, kind, since }) => ({ account: pseudonym('account', account), kind, since })),
    otherAccounts: otherAccounts.map((one) => ({ ...one, account: pseudonym('account', one.account) })),
    accounts: accounts.map((one) => ({ ...one, account: pseudonym('account', one.account) })),
  };
}

export function bundledDaemon(daemon: DaemonStatus, pseudonym: Pseudonym): object {
  const accounts = daemon.accounts.map(({ unwritten: why, keptBack, ...one }) => ({
    ...one,
    account: pseudonym('account', one.account),
    unwritten: why !== undefined,
    keptBack: keptBack.length,
  }));
  const { unwritten, changedSettings } = daemon;
  // These have the path of a file or the name of the server in them.
  return { ...daemon, unwritten: unwritten !== null, changedSettings: changedSettings !== undefined, accounts };
}

/** An event without the text of others: a status of the exchange is a pseudonym too, so that its changes can be followed. */
export function bundledEvent(event: EventRow, pseudonym: Pseudonym): object {
  const { id, account, type, subject, field, old_value: from, new_value: to, observed_at: at, source } = event;
  const isOurs = (type === 'order' && field === 'state') || type === 'account';
  const value = (text: string | null) => text && (isOurs && OUR_WORD.test(text) ? text : pseudonym('text', text));
  const kinds = { link: 'link', photos: 'link', account: 'account' } as const;
  const kind = Object.hasOwn(kinds, type) ? kinds[type as keyof typeof kinds] : 'order';
  return {
    id,
    type,
    field: FIELD.test(field) ? field : pseudonym('text', field),
    at,
    source,
    account: pseudonym('account', account),
    subject: pseudonym(kind, subject),
    from: value(from),
    to: value(to),
  };
}

/** States, kinds of holds, and values of account events, which always have a hyphen. */
const OUR_WORD = new RegExp(`^(${[...ORDER_STATES, ...RESTRAINT_KINDS].join('|')}|[a-z]+-[a-z]+(-[a-z]+)?)$`);
const FIELD = /^[A-Za-z_.]{1,80}$/;

/** Values that name no person: numbers, durations, sizes, switches, lists of durations, and a few words. */
const PLAIN =
  /^(\d+(\.\d+)?( ?[A-Za-z]{1,3})?|\[[0-9smhd, ]*\]|off|on|true|false|hold|resend|proved|paced|learned|documented|status|trace|debug|info|warn|error|fatal|silent|\(not set\)|\(set, hidden\))$/;

export function bundledSetting({ setting, value, source }: ConfigSource, pseudonym: Pseudonym): object {
  const name = setting.replace(/^accounts\.(.*)\.(\w+\.\w+|rateGroup)$/s, (_all, account: string, path: string) => {
    return `accounts.${pseudonym('account', account)}.${path}`;
  });
  return { setting: name, value: PLAIN.test(value) ? value : '(set)', isDefault: source === 'default' };
}
