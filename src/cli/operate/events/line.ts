import type { EventData, FeedEvent } from '../../../domain/events/feed.ts';
import { toneOf, type Tone } from '../../../reports/formats/document.ts';
import { styled, toned, wrapped, type Screen } from '../../../reports/formats/terminal/screen.ts';
import { printable } from '../../../reports/formats/text.ts';

/** Lines after the first of an event. */
const INDENT = 4;

/** An event in one line for people, or in as many as the width of the screen needs. */
export function eventLine(event: FeedEvent, screen: Screen, hasAccount: boolean): string {
  const { timestamp, cursor, type, account, data } = event;
  const text = [
    timestamp.replace('T', ' ').replace(/(\.\d+)?Z$/, ''),
    String(cursor),
    ...(hasAccount ? [account] : []),
    type,
    ...wordsOf(data),
  ]
    .map((word) => printable(word))
    .join('  ');
  const [first = '', ...more] = wrapped(text, screen.width, INDENT).split('\n');
  // The colour is put in last: what is counted has none.
  const coloured = first.replace(type, () => toned(toneOfEvent(event), type, screen));
  return [coloured, ...more.map((line) => styled('dim', line, screen)), ''].join('\n');
}

/** The subject, what happened to it, and why. */
function wordsOf(data: EventData): readonly string[] {
  if ('class' in data) return said(data.externalOrderId, data.class, change(data.expected, data.actual), data.reason);
  if ('delivery' in data) return said(data.linkId, data.level, data.delivery);
  if ('hold' in data) return said(data.hold, data.reason, data.actor);
  const subject = 'linkId' in data ? data.linkId : data.externalOrderId;
  return said(subject, data.field, change(data.oldValue, data.newValue), data.reason, data.actor);
}

function change(from: string | null, to: string | null): string | null {
  return from === null ? to : `${from} → ${to ?? 'none'}`;
}

function said(...words: readonly (string | null)[]): readonly string[] {
  return words.filter((word) => word !== null && word !== '').map(String);
}

function toneOfEvent({ type, data }: FeedEvent): Tone {
  if (type === 'order.state_changed' && 'newValue' in data) return toneOf('state', data.newValue);
  if (type === 'finding.opened' && 'severity' in data) return toneOf('severity', data.severity);
  if (type === 'order.needs_attention' || type === 'account.key_refused' || type === 'account.stopped') return 'error';
  return type === 'account.out_of_reach' || type === 'account.paused' ? 'warning' : 'neutral';
}
