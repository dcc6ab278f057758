import { whyNeverLeft } from './next.ts';
import type { StoryEvent, StoryOrder } from '../tables/story.ts';

type Context = { readonly order: StoryOrder; readonly creates: number };

const STATUS_NAMES: Readonly<Record<string, string>> = {
  'order.status': 'the order',
  'cryptoTransaction.status': 'the crypto transaction',
  'fiatTransaction.status': 'the fiat transaction',
};

export function eventSentence(event: StoryEvent, context: Context): string {
  const { field, old_value, new_value, reason } = event;
  if (field === 'state') return event.source === 'operator' ? decided(event, context) : moved(event, context);
  const status = STATUS_NAMES[field];
  if (status !== undefined) return statusSentence(status, event);
  if (field.startsWith('record.')) return fieldSentence(field.slice('record.'.length), event);
  if (field === 'finding') return `Finding ${new_value}: ${reason ?? ''}.`;
  return `${field} changed from ${old_value ?? 'nothing'} to ${new_value ?? 'nothing'}${because(reason)}.`;
}

function statusSentence(name: string, { old_value, new_value, exchange_time }: StoryEvent): string {
  const when = exchange_time === null ? '' : ` (dated ${exchange_time} by the exchange)`;
  if (new_value === null) return `The exchange no longer sends the status of ${name}, which was ${old_value}${when}.`;
  if (old_value === null) return `The status of ${name} is ${new_value}${when}.`;
  return `The status of ${name} changed from ${old_value} to ${new_value}${when}.`;
}

/** The event of a secret field has only the word `changed`. The event of undocumented fields has only their names. */
function fieldSentence(name: string, { old_value, new_value }: StoryEvent): string {
  if (name === 'other') return `Other fields of the record changed: ${new_value}.`;
  if (old_value === null && new_value === 'changed') return `The ${name} of the record changed.`;
  return `The ${name} of the record changed from ${old_value ?? 'nothing'} to ${new_value ?? 'nothing'}.`;
}

function moved({ old_value, new_value, source, reason }: StoryEvent, { order, creates }: Context): string {
  const why = because(reason);
  const { asset, asset_position: position, from_currency: from, to_currency: to } = order;
  // The row has the amount that the exchange accepted, because a sent row cannot change.
  const content = position === 'INPUT' ? `${asset} ${from}` : `${asset} in position ${position}, ${from}`;
  const sentences: Readonly<Record<string, string>> = {
    // The request may not have been sent yet. Later events show its outcome.
    sending: `order-sync began create request ${creates}.`,
    accepted: `The exchange accepted the order as pre-order ${order.pre_order_id}: ${content} to ${to}.`,
    rejected: `The exchange refused the order${why}.`,
    invalid: `order-sync found the row invalid and sent nothing${why}.`,
    pending: source === 'import' ? 'The row was corrected and waits to be sent.' : waitsAgain(reason),
    unknown: `It is not known whether the exchange has the order${why}. order-sync looks the order up instead of sending it again.`,
    abandoned: `The order was abandoned${why}.`,
    held: `order-sync held the order, so that a person decides${why}.`,
    disputed: `The order is disputed${why}. Do not act on it.`,
    open: `${appearance(old_value, order)}. order-sync follows it.`,
    final:
      old_value === 'open'
        ? 'The order ended at the exchange.'
        : `${appearance(old_value, order)}. It has ended there.`,
  };
  return sentences[new_value ?? ''] ?? `The state of the order changed from ${old_value} to ${new_value}${why}.`;
}

function waitsAgain(reason: string | null): string {
  const why = whyNeverLeft(reason);
  return why === undefined
    ? `The order waits to be sent again${because(reason)}.`
    : `The request did not leave this machine: ${why}. The order waits to be sent.`;
}

function appearance(old_value: string | null, { adopted_at }: StoryOrder): string {
  if (old_value === 'final') return 'The order that was final is open again';
  if (old_value === 'disputed') return 'The order no longer contradicts the row';
  if (old_value === 'rejected' || old_value === 'cancelled' || old_value === 'abandoned') {
    return `The exchange has the order, although it was ${old_value}`;
  }
  if (old_value === 'pending' && adopted_at !== null) return 'The order was adopted: the exchange had it already';
  if (old_value === 'pending') return 'The exchange has the order after all, so it is not sent again';
  return 'The order appeared at the exchange';
}

export function decided({ old_value, new_value, reason, actor }: StoryEvent, { order }: Pick<Context, 'order'>) {
  const deeds: Readonly<Record<string, string>> = {
    accepted: `decided that the exchange has the order as pre-order ${order.pre_order_id}`,
    pending:
      old_value === 'invalid'
        ? 'decided that order-sync checks the row again'
        : `decided that order-sync sends the order again (it was ${old_value})`,
    cancelled: 'cancelled the order before it was sent',
    abandoned: 'abandoned the order',
    open: 'decided that the order at the exchange is yours, although it contradicts the row',
    final: 'decided that the order at the exchange, which has ended, is yours, although it contradicts the row',
  };
  const deed = deeds[new_value ?? ''] ?? `changed the state of the order from ${old_value} to ${new_value}`;
  return `${actor ?? 'A person'} ${deed}${because(reason)}.`;
}

function because(reason: string | null): string {
  return reason === null ? '' : `: ${reason}`;
}
