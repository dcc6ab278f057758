import { printable } from '../../base/words.ts';
import { cut, shortTime, styled, toned, widthOf, type Screen, type Tone } from '../../cli/shared/terminal.ts';
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
const WIDEST_ID = 40;
const LEAST_TEXT = 16;

/** Returns a writer of lines, one an event. On a terminal their columns are as wide as those of all events that it wrote. */
export function eventLines(hasAccount: boolean): (events: readonly FeedEvent[], screen: Screen) => string {
  const widths: number[] = [];
  return (events, screen) => {
    const { width, now } = screen;
    const lines = events.map((event) => {
      const { timestamp, cursor, type, account, data } = event;
      const subject = 'linkId' in data ? data.linkId : 'hold' in data ? account : data.externalOrderId;
      const at = now === undefined ? [timestamp, String(cursor), type] : [shortTime(timestamp, now)];
      const cells = [...at, ...(hasAccount ? [account] : []), subject].map(printable);
      for (const [index, cell] of cells.entries()) {
        widths[index] = Math.max(widths[index] ?? 0, Math.min(widthOf(cell), WIDEST_ID));
      }
      return { event, cells };
    });
    return lines
      .map(({ event, cells }) => {
        const padded = cells.map((cell, index) => cell + ' '.repeat(Math.max(0, (widths[index] ?? 0) - widthOf(cell))));
        const [time = '', ...others] = width === Infinity ? cells : padded;
        const head = [styled('dim', time, screen), ...others].join('  ');
        const room = width - 2 - widthOf([time, ...others].join('  '));
        const text = printable(happened(event));
        return `${head}  ${toned(toneOfEvent(event), room === Infinity ? text : cut(text, Math.max(LEAST_TEXT, room)), screen)}\n`;
      })
      .join('');
  };
}

/** Says in plain words what happened to the order, link or account. */
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
