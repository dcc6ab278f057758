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

/** Writes one event of the history of an order as a sentence. */
export function eventSentence(event: StoryEvent, context: Context): string {
  const { field, oldValue, newValue, reason } = event;
  if (field === 'state') return event.source === 'operator' ? decided(event, context) : moved(event, context);
  const status = STATUS_NAMES[field];
  if (status !== undefined) return statusSentence(status, event);
  if (field === 'record.stale') {
    return `The exchange sent a record of ${newValue}, which is older than ours of ${oldValue}; nothing was changed.`;
  }
  if (field === 'finding') return `Finding ${newValue}: ${reason ?? ''}.`;
  return `${field} went from ${oldValue ?? 'nothing'} to ${newValue ?? 'nothing'}${because(reason)}.`;
}

function statusSentence(name: string, { oldValue, newValue, exchangeTime }: StoryEvent): string {
  const when = exchangeTime === null ? '' : ` (the exchange dates it ${exchangeTime})`;
  if (newValue === null) return `The status of ${name} is not given any more; it was ${oldValue}${when}.`;
  if (oldValue === null) return `The status of ${name} is ${newValue}${when}.`;
  return `The status of ${name} went from ${oldValue} to ${newValue}${when}.`;
}

function moved({ oldValue, newValue, source, reason }: StoryEvent, { order, creates }: Context): string {
  switch (newValue) {
    case 'sending':
      return `Create request ${creates} went out.`;
    case 'accepted':
      return `The exchange accepted it as pre-order ${order.preOrderId}: ${content(order)}.`;
    case 'rejected':
      return `The exchange refused it${because(reason)}.`;
    case 'invalid':
      return `Our own check refused the row and nothing was sent${because(reason)}.`;
    case 'pending':
      if (source === 'import') return 'The row was corrected and waits to be sent.';
      return `It waits to be sent again${because(reason)}.`;
    case 'unknown':
      return `Nobody knows the outcome of the create${because(reason)}. It is looked up, not sent again.`;
    case 'held':
      return `It was held for a person${because(reason)}.`;
    case 'open':
      return `${appearance(oldValue)}; it is followed.`;
    case 'final':
      return oldValue === 'open' ? 'The order is final.' : `${appearance(oldValue)}; it is final.`;
    default:
      return `It went from ${oldValue} to ${newValue}${because(reason)}.`;
  }
}

function appearance(oldValue: string | null): string {
  if (oldValue === 'final') return 'The order that was final is open again';
  if (oldValue === 'cancelled' || oldValue === 'abandoned') {
    return `The exchange has an order all the same, although the row was ${oldValue}`;
  }
  if (oldValue === 'pending') return 'The exchange has the order after all, so it is not sent again';
  return 'The exchange has the order now';
}

function decided({ oldValue, newValue, reason, actor }: StoryEvent, { order }: Context): string {
  const who = actor ?? 'A person';
  const why = because(reason);
  switch (newValue) {
    case 'held':
      return `${who} ended its look-ups to decide${why}.`;
    case 'accepted':
      return `${who} said that it exists at the exchange as pre-order ${order.preOrderId}${why}.`;
    case 'pending':
      return `${who} had it sent again, from ${oldValue}${why}.`;
    case 'cancelled':
      return `${who} cancelled it before it was sent${why}.`;
    case 'abandoned':
      return `${who} gave it up${why}.`;
    default:
      return `${who} moved it from ${oldValue} to ${newValue}${why}.`;
  }
}

/** The row cannot have changed since the exchange accepted it. */
function content({ asset, fromCurrency, toCurrency }: StoryOrder): string {
  return `${asset} ${fromCurrency} to ${toCurrency}`;
}

function because(reason: string | null): string {
  return reason === null ? '' : `: ${reason}`;
}
