import type { HoldKind } from '../accounts/holds.ts';
import { severityOf, type Severity } from '../findings/classes.ts';

export const EVENT_TYPES = [
  'order.state_changed',
  'order.status_changed',
  'order.field_changed',
  'order.needs_attention',
  'finding.opened',
  'finding.resolved',
  'finding.acknowledged',
  'link.status_changed',
  'photos.received',
  'account.out_of_reach',
  'account.back',
  'account.key_refused',
  'account.paused',
  'account.resumed',
  'account.restored',
  'account.stopped',
  'account.unreadable',
  'account.readable',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** The version of the shape of an event. Fields may be added within a version; nothing else changes. */
export const EVENT_VERSION = 1;

export interface EventRow {
  readonly id: number;
  readonly account: string;
  readonly type:
    | 'order'
    | 'link'
    | 'account'
    | 'photos'
    | 'order.needs_attention'
    | 'finding.opened'
    | 'finding.resolved'
    | 'finding.acknowledged';
  readonly subject: string;
  readonly field: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
  readonly observed_at: string;
  readonly exchange_time: string | null;
  readonly source: string;
  readonly reason: string | null;
  readonly actor: string | null;
  readonly hash: string;
}

/** What most events tell: what changed, from what to what, and who says so. Values are text as received, with every digit. */
interface Change {
  readonly field: string;
  readonly oldValue: string | null;
  readonly newValue: string | null;
  /** `modificationDate` of the record (§2.7), as received. */
  readonly exchangeTime: string | null;
  readonly source: string;
  readonly reason: string | null;
  /** The person whose decision it was. */
  readonly actor: string | null;
}

export type EventData =
  | ({ readonly externalOrderId: string } & Change)
  | {
      readonly externalOrderId: string;
      readonly class: string;
      readonly severity: Severity | null;
      readonly expected: string | null;
      readonly actual: string | null;
      readonly reason: string | null;
      readonly actor: string | null;
    }
  | ({ readonly linkId: string } & Change)
  | {
      readonly linkId: string;
      readonly level: string;
      readonly requestId: string | null;
      readonly delivery: string | null;
    }
  | {
      /** What holds the account; null where no hold is meant. */
      readonly hold: string | null;
      readonly reason: string | null;
      readonly actor: string | null;
    };

export interface FeedEvent {
  readonly version: typeof EVENT_VERSION;
  /** Same in the feed and on every try of a webhook, and different for each event, also of another database. */
  readonly id: string;
  /** The place in the feed of the account: the `after` that gives what comes next. */
  readonly cursor: number;
  readonly type: EventType;
  readonly account: string;
  /** When it was seen: UTC, ISO 8601. */
  readonly timestamp: string;
  readonly data: EventData;
}

const STATUS_FIELDS: readonly string[] = ['order.status', 'cryptoTransaction.status', 'fiatTransaction.status'];
const KEY_REFUSED: HoldKind = 'key-refused';

export function feedEventOf(row: EventRow): FeedEvent {
  const { id: cursor, account, observed_at: timestamp, hash } = row;
  // The hash covers the events before it as well: an event of a copy that was put back has another id.
  const id = `evt_${hash.slice(0, 32)}`;
  return { version: EVENT_VERSION, id, cursor, type: typeOf(row), account, timestamp, data: dataOf(row) };
}

function typeOf({ type, field, old_value: from, new_value: to }: EventRow): EventType {
  switch (type) {
    case 'order':
      if (field === 'state') return 'order.state_changed';
      return STATUS_FIELDS.includes(field) ? 'order.status_changed' : 'order.field_changed';
    case 'link':
      return 'link.status_changed';
    case 'photos':
      return 'photos.received';
    case 'account':
      if (field === 'exchange') return to === null ? 'account.back' : 'account.out_of_reach';
      if (field === 'answers') return to === null ? 'account.readable' : 'account.unreadable';
      if (field === 'stopped') return to === null ? 'account.resumed' : 'account.stopped';
      if (field === 'restore') return 'account.restored';
      if (to === KEY_REFUSED) return 'account.key_refused';
      return from === null ? 'account.paused' : 'account.resumed';
    default:
      return type;
  }
}

function dataOf(row: EventRow): EventData {
  const { type, subject, field, old_value: oldValue, new_value: newValue, source, reason, actor } = row;
  const change = { field, oldValue, newValue, exchangeTime: row.exchange_time, source, reason, actor };
  switch (type) {
    case 'order':
    case 'order.needs_attention':
      return { externalOrderId: subject, ...change };
    case 'link':
      return { linkId: subject, ...change };
    case 'photos':
      return { linkId: subject, level: field, requestId: oldValue, delivery: newValue };
    case 'account':
      return { hold: field === 'hold' ? (newValue ?? oldValue) : null, reason, actor };
    default:
      return {
        externalOrderId: subject,
        class: field,
        severity: severityOf(field),
        expected: oldValue,
        actual: newValue,
        reason,
        actor,
      };
  }
}

/** The last event that a reader of an account has read; id 0 and no hash before the first. */
export interface Place {
  readonly id: number;
  /** The hash of the event; empty where it is not known. */
  readonly hash: string;
}

export const BEGINNING: Place = { id: 0, hash: '' };

const FORM = /^(\d{1,15})(?:\.([0-9a-f]{8,64}))?$/;
/** As many digits of a hash tell an event from that of another database. */
const DIGITS = 16;

/**
 * Reads a cursor: the id of an event, and behind a dot the beginning of its hash where it is to be checked. Gives undefined
 * where it is none.
 */
export function readCursor(text: string): Place | undefined {
  const [, id, hash = ''] = FORM.exec(text) ?? [];
  return id === undefined ? undefined : { id: Number(id), hash };
}

/** Writes a cursor, so that it is refused in another database. */
export function writeCursor({ id, hash }: Place): string {
  return hash === '' ? String(id) : `${id}.${hash.slice(0, DIGITS)}`;
}

export function cursorOf({ cursor, id }: Pick<FeedEvent, 'cursor' | 'id'>): string {
  return writeCursor({ id: cursor, hash: id.slice('evt_'.length) });
}
