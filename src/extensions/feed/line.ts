import { shortTime } from '../documents/words.ts';
import { printable } from '../../base/words.ts';
import { cut, toned, widthOf, type Screen, type Tone } from '../../cli/shared/terminal.ts';
import { toneOf } from '../documents/document.ts';
import type { EventType, FeedEvent } from './event.ts';

const WORDS: Readonly<Partial<Record<EventType, readonly [tone: Tone, text: string]>>> = {
  'order.needs_attention': ['error', 'a person must decide'],
  'account.out_of_reach': ['error', 'the exchange is out of reach'],
  'account.back': ['good', 'the exchange answers again'],
  'account.key_refused': ['error', 'the exchange refuses the key'],
  'account.paused': ['warning', 'the account is paused'],
  'account.resumed': ['good', 'the account works again'],
  'account.restored': ['warning', 'the database was put back to an older state'],
  'account.stopped': ['error', 'the account is stopped'],
  'account.unreadable': ['error', 'the answers of the exchange cannot be read'],
  'account.readable': ['good', 'the answers of the exchange can be read again'],
};
const ACCOUNT_WIDTH = 12;
const SUBJECT_WIDTH = 24;
const LEAST_TEXT = 16;

export function eventLine(event: FeedEvent, screen: Screen, hasAccount: boolean): string {
  const { timestamp, cursor, type, data } = event;
  const { width, now } = screen;
  const account = printable(event.account);
  const subject = printable('linkId' in data ? data.linkId : 'hold' in data ? account : data.externalOrderId);
  const accounts = hasAccount ? [now === undefined ? account : account.padEnd(ACCOUNT_WIDTH)] : [];
  const cells =
    now === undefined
      ? [timestamp, String(cursor), ...accounts, type, subject]
      : [shortTime(timestamp, now).padEnd(8), ...accounts, subject.padEnd(SUBJECT_WIDTH)];
  const head = cells.join('  ');
  const text = cut(printable(happened(event)), Math.max(LEAST_TEXT, width - widthOf(head) - 2));
  return `${head}  ${toned(toneOfEvent(event), text, screen)}\n`;
}

function happened({ type, data }: FeedEvent): string {
  const [, text] = WORDS[type] ?? [];
  if ('delivery' in data) return `photos of level ${data.level}: ${data.delivery}`;
  const { reason, actor } = data;
  const why = `${actor === null ? '' : `, by ${actor}`}${reason === null ? '' : `: ${reason}`}`;
  if ('hold' in data) return `${text}${data.hold === null ? '' : ` (${data.hold})`}${why}`;
  if ('class' in data) {
    const { class: name, expected, actual } = data;
    if (type !== 'finding.opened') return `finding ${name} is ${type.slice('finding.'.length)}${why}`;
    return `finding ${name}: expected ${expected ?? 'nothing'}, found ${actual ?? 'nothing'}${why}`;
  }
  const { field, oldValue, newValue } = data;
  const name = field.replace('Transaction', '').replaceAll('.', ' ');
  const change = `${name} is ${newValue ?? 'empty'}${oldValue === null ? '' : `, was ${oldValue}`}${why}`;
  return text === undefined ? change : `${text}: ${change}`;
}

function toneOfEvent({ type, data }: FeedEvent): Tone {
  if (type === 'order.state_changed' && 'newValue' in data) return toneOf('state', data.newValue);
  if (type === 'finding.opened' && 'severity' in data) return toneOf('severity', data.severity);
  return WORDS[type]?.[0] ?? 'neutral';
}
