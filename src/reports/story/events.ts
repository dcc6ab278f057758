import { whyNeverLeft } from '../../domain/orders/create.ts';
import type { StoryEvent, StoryOrder } from './evidence.ts';

interface Context {
  readonly order: StoryOrder;
  readonly creates: number;
}

const STATUS_NAMES: Readonly<Record<string, string>> = {
  'order.status': 'the order',
  'cryptoTransaction.status': 'the crypto transaction',
  'fiatTransaction.status': 'the fiat transaction',
};

export function eventSentence(event: StoryEvent, context: Context): string {
  const { field, oldValue, newValue, reason } = event;
  if (field === 'state') return event.source === 'operator' ? decided(event, context) : moved(event, context);
  const status = STATUS_NAMES[field];
  if (status !== undefined) return statusSentence(status, event);
  if (field.startsWith('record.')) return fieldSentence(field.slice('record.'.length), event);
  if (field === 'finding') return `Finding ${newValue}: ${reason ?? ''}.`;
  return `${field} went from ${oldValue ?? 'nothing'} to ${newValue ?? 'nothing'}${because(reason)}.`;
}

function statusSentence(name: string, { oldValue, newValue, exchangeTime }: StoryEvent): string {
  const when = exchangeTime === null ? '' : ` (the exchange dates it ${exchangeTime})`;
  if (newValue === null) return `The status of ${name} is not given any more; it was ${oldValue}${when}.`;
  if (oldValue === null) return `The status of ${name} is ${newValue}${when}.`;
  return `The status of ${name} went from ${oldValue} to ${newValue}${when}.`;
}

/** Of secrets only the change is known, of fields that are not documented only the names. */
function fieldSentence(name: string, { oldValue, newValue }: StoryEvent): string {
  if (name === 'other') return `Other fields of the record changed: ${newValue}.`;
  if (oldValue === null && newValue === 'changed') return `The ${name} of the record changed.`;
  return `The ${name} of the record went from ${oldValue ?? 'nothing'} to ${newValue ?? 'nothing'}.`;
}

function moved({ oldValue, newValue, source, reason }: StoryEvent, { order, creates }: Context): string {
  const why = because(reason);
  const sentences: Readonly<Record<string, string>> = {
    // Whether it left only what follows tells.
    sending: `Create request ${creates} was about to go out.`,
    accepted: `The exchange accepted it as pre-order ${order.preOrderId}: ${content(order)}.`,
    rejected: `The exchange refused it${why}.`,
    invalid: `Our own check refused the row and nothing was sent${why}.`,
    pending: source === 'import' ? 'The row was corrected and waits to be sent.' : waitsAgain(reason),
    unknown: `Nobody knows the outcome of the create${why}. It is looked up, not sent again.`,
    abandoned: `It was given up${why}.`,
    held: `It was held for a person${why}.`,
    disputed: `The order is disputed${why}. Nobody should act on it.`,
    open: `${appearance(oldValue, order)}; it is followed.`,
    final: oldValue === 'open' ? 'The order is final.' : `${appearance(oldValue, order)}; it is final.`,
  };
  return sentences[newValue ?? ''] ?? `It went from ${oldValue} to ${newValue}${why}.`;
}

function waitsAgain(reason: string | null): string {
  const why = whyNeverLeft(reason);
  return why === undefined
    ? `It waits to be sent again${because(reason)}.`
    : `The request never left: ${why}. It waits to be sent.`;
}

function appearance(oldValue: string | null, { adoptedAt }: StoryOrder): string {
  if (oldValue === 'final') return 'The order that was final is open again';
  if (oldValue === 'disputed') return 'The order no longer contradicts the row';
  if (oldValue === 'rejected' || oldValue === 'cancelled' || oldValue === 'abandoned') {
    return `The exchange has an order all the same, although the row was ${oldValue}`;
  }
  if (oldValue === 'pending' && adoptedAt !== null) return 'The order was adopted: the exchange had it already';
  if (oldValue === 'pending') return 'The exchange has the order after all, so it is not sent again';
  return 'The exchange has the order now';
}

function decided({ oldValue, newValue, reason, actor }: StoryEvent, { order }: Context): string {
  const deeds: Readonly<Record<string, string>> = {
    held: 'ended its look-ups to decide',
    accepted: `said that it exists at the exchange as pre-order ${order.preOrderId}`,
    pending: `had it sent again, from ${oldValue}`,
    cancelled: 'cancelled it before it was sent',
    abandoned: 'gave it up',
    open: 'said that the order is ours, in spite of what contradicts it',
    final: 'said that the order is ours, in spite of what contradicts it, and it is final',
  };
  const deed = deeds[newValue ?? ''] ?? `moved it from ${oldValue} to ${newValue}`;
  return `${actor ?? 'A person'} ${deed}${because(reason)}.`;
}

/** The row cannot have changed since the exchange accepted it. */
function content({ asset, assetPosition, fromCurrency, toCurrency }: StoryOrder): string {
  if (assetPosition === 'INPUT') return `${asset} ${fromCurrency} to ${toCurrency}`;
  return `${asset} in position ${assetPosition}, ${fromCurrency} to ${toCurrency}`;
}

function because(reason: string | null): string {
  return reason === null ? '' : `: ${reason}`;
}
