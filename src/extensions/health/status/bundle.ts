import { RESTRAINT_KINDS } from '../../../accounts/rules/restraints.ts';
import { ORDER_STATES } from '../../../orders/rules/states.ts';
import type { EventRow } from '../../feed/event.ts';
import type { NamedOrder, Overview, DaemonStatus } from './status.ts';
import type { ConfigSource } from '../../setup/sources.ts';

/** Returns a pseudonym for an id. Within a file an id has one pseudonym; other files have other pseudonyms. */
export type Pseudonym = (kind: 'account' | 'order' | 'link' | 'text', id: string) => string;

/** Picks the fields for a support file. Texts that merchants or the exchange wrote are omitted or become pseudonyms. */
export function bundledOverview(overview: Overview, pseudonym: Pseudonym): object {
  const named = <One extends { account: string }, Key extends keyof One>(one: One, ...keys: readonly Key[]) => {
    return { account: pseudonym('account', one.account), ...pick(one, keys) };
  };
  const order = (one: NamedOrder | null) => {
    return one && { ...named(one), order: pseudonym('order', one.externalOrderId), ...pick(one, ['state', 'since']) };
  };
  return {
    ...pick(overview, ['orders', 'more', 'newInvalid', 'findings', 'lastEventAt']),
    oldestPending: order(overview.oldestPending),
    oldestUnknown: order(overview.oldestUnknown),
    attention: overview.attention.map(order),
    holds: overview.holds.map((one) => named(one, 'kind', 'since', 'until')),
    receivers: overview.receivers.map((one) => ({
      receiver: pseudonym('text', one.name),
      ...pick(one, ['takenAt', 'failingSince', 'nextTryAt', 'oldestWaiting', 'parked', 'deadLetters']),
    })),
    outOfReach: overview.outOfReach.map((one) => named(one, 'since')),
    unreadable: overview.unreadable.map((one) => named(one, 'since')),
    stopped: overview.stopped.map((one) => named(one, 'kind', 'since')),
    otherAccounts: overview.otherAccounts.map((one) => named(one, 'orders')),
    accounts: overview.accounts.map((one) => named(one, 'orders', 'findings')),
  };
}

function pick<One extends object, Key extends keyof One>(one: One, keys: readonly Key[]): Pick<One, Key> {
  return Object.fromEntries(keys.map((key) => [key, one[key]])) as Pick<One, Key>;
}

export function bundledDaemon(daemon: DaemonStatus, pseudonym: Pseudonym): object {
  const accounts = daemon.accounts.map(({ unwritten: why, keptBack, ...one }) => ({
    ...one,
    account: pseudonym('account', one.account),
    unwritten: why !== undefined,
    keptBack: keptBack.length,
  }));
  const { unwritten, opsFailure, changedSettings } = daemon;
  // These become flags, because their texts may name a file, an address or a server.
  const flags = {
    unwritten: unwritten !== null,
    opsFailure: opsFailure !== null,
    changedSettings: changedSettings !== undefined,
  };
  return { ...daemon, ...flags, accounts };
}

/** Picks the fields of an event. A value of the exchange becomes a pseudonym, so that its changes stay visible. */
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

const OUR_WORD = new RegExp(`^(${[...ORDER_STATES, ...RESTRAINT_KINDS].join('|')}|[a-z]+-[a-z]+(-[a-z]+)?)$`);
const FIELD = /^[A-Za-z_.]{1,80}$/;

/** Matches values that name no person: numbers, durations and lists of these, sizes, switches, and a few words. */
const PLAIN =
  /^(\d+(\.\d+)?( ?[A-Za-z]{1,3})?|\[[0-9smhd, ]*\]|off|on|true|false|hold|resend|proved|paced|learned|documented|status|trace|debug|info|warn|error|fatal|silent|\(not set\)|\(set, hidden\))$/;

export function bundledSetting({ setting, value, source }: ConfigSource, pseudonym: Pseudonym): object {
  const name = setting.replace(/^accounts\.(.*)\.(\w+\.\w+|rateGroup)$/s, (_all, account: string, path: string) => {
    return `accounts.${pseudonym('account', account)}.${path}`;
  });
  return { setting: name, value: PLAIN.test(value) ? value : '(set)', isDefault: source === 'default' };
}
