import type { RestraintKind } from '../../accounts/rules/restraints.ts';
import { severityOf } from '../../findings/rules/classes.ts';
import type { EventsTable } from '../../store/schema.ts';

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

/** The version of the shape of an event. Within a version, only new fields and types are added. */
export const EVENT_VERSION = 1 as const;

export type EventRow = Readonly<Omit<EventsTable, 'id' | 'looked_up_before' | 'previous_hash'> & { id: number }>;

export type SubjectKind = 'order' | 'link' | 'account';

export const ROW_TYPES: Readonly<Record<SubjectKind, readonly EventRow['type'][]>> = {
  order: ['order', 'order.needs_attention', 'finding.opened', 'finding.resolved', 'finding.acknowledged'],
  link: ['link', 'photos'],
  account: ['account'],
};

export function subjectKindOf(type: EventRow['type']): SubjectKind {
  if (ROW_TYPES.link.includes(type)) return 'link';
  return type === 'account' ? 'account' : 'order';
}

/** An event of the feed and of the webhooks; `schema.ts` describes its fields. */
export type FeedEvent = ReturnType<typeof feedEventOf>;

const STATUS_FIELDS: readonly string[] = ['order.status', 'cryptoTransaction.status', 'fiatTransaction.status'];

export function feedEventOf(row: EventRow) {
  const { id: cursor, account, observed_at: timestamp, hash } = row;
  // The hash also covers all earlier events. So after a restore a new event never has the id of a lost event.
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
      if (to === ('key-refused' satisfies RestraintKind)) return 'account.key_refused';
      return from === null ? 'account.paused' : 'account.resumed';
    default:
      return type;
  }
}

function dataOf({ type, subject, field, old_value: oldValue, new_value: newValue, ...row }: EventRow) {
  const { exchange_time: exchangeTime, source, reason, actor } = row;
  const change = { field, oldValue, newValue, exchangeTime, source, reason, actor };
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
    default: {
      const found = { class: field, severity: severityOf(field), expected: oldValue, actual: newValue };
      return { externalOrderId: subject, ...found, reason, actor };
    }
  }
}

/** The last event that a reader of an account has read. Before the first event, the id is 0 and the hash empty. */
export type Place = Readonly<{ id: number; hash: string }>;

export const BEGINNING: Place = { id: 0, hash: '' };

const FORM = /^(\d{1,15})(?:\.([0-9a-f]{8,64}))?$/;
const DIGITS = 16;

/** Reads a cursor: the id of an event, perhaps with a dot and the beginning of its hash. Undefined for other text. */
export function readCursor(text: string): Place | undefined {
  const [, id, hash = ''] = FORM.exec(text) ?? [];
  return id === undefined ? undefined : { id: Number(id), hash };
}

export function writeCursor({ id, hash }: Place): string {
  return hash === '' ? String(id) : `${id}.${hash.slice(0, DIGITS)}`;
}

export function cursorOf({ cursor, id }: Pick<FeedEvent, 'cursor' | 'id'>): string {
  return writeCursor({ id: cursor, hash: id.slice('evt_'.length) });
}
