/** Types of events by the kind of their subject. */
const TYPES = {
  order: `'order', 'order.needs_attention', 'finding.opened', 'finding.resolved', 'finding.acknowledged'`,
  link: `'link', 'photos'`,
  account: `'account'`,
} as const;

const KINDS = Object.keys(TYPES) as (keyof typeof TYPES)[];

const COLUMNS =
  'account, endpoint, event_id, kind, subject, status, attempts, next_attempt_at, failed_at, answer, since';

/** A refused event that the cursor has not reached is sent again with the events after the cursor. */
const REFUSED = `from webhook_parked as parked join webhook_cursors as cursor
  on cursor.account = parked.account and cursor.endpoint = parked.endpoint and cursor.event_id >= parked.from_event_id`;

/** A whole number, a text and the end of a table in the words of a dialect. */
interface Words {
  readonly integer: string;
  readonly text: string;
  readonly end: string;
}

/**
 * The statements that turn the rows of `webhook_parked` and `webhook_dead_letters` into rows of `webhook_deliveries`: the events up
 * to its cursor that an endpoint has not taken. Of each order, link or account the oldest has a time of its next attempt, and the
 * later ones are behind it. Of an event its id alone is kept here.
 */
export function webhookDeliveries({ integer, text, end }: Words): readonly string[] {
  return [
    `create table webhook_deliveries (account ${text} not null, endpoint ${text} not null, event_id ${integer} not null,
      kind ${text} not null, subject ${text} not null, status ${text} not null, attempts ${integer} not null,
      next_attempt_at ${text}, failed_at ${text}, answer ${integer} not null, since ${text} not null,
      constraint webhook_deliveries_key primary key (account, endpoint, event_id)) ${end}`,
    `insert into webhook_deliveries (${COLUMNS})
      select parked.account, parked.endpoint, from_event_id, kind, subject, case when tries > 0 then 'retrying' else 'waiting' end,
        tries, next_try_at, case when tries > 0 then since end, status, since ${REFUSED}`,
    ...KINDS.map((kind) => behind(kind)),
    ...KINDS.map((kind) => deadLetters(kind)),
    'drop table webhook_parked',
    'drop table webhook_dead_letters',
    'create index webhook_deliveries_of_subject on webhook_deliveries (account, endpoint, kind, subject, status, event_id)',
    `create index webhook_deliveries_due on webhook_deliveries (account, endpoint, next_attempt_at)
      where next_attempt_at is not null`,
    'create index webhook_deliveries_by_status on webhook_deliveries (endpoint, status, since, account, event_id)',
    `create index webhook_deliveries_delivered on webhook_deliveries (account, since) where status = 'delivered'`,
  ];
}

function behind(kind: keyof typeof TYPES): string {
  return `insert into webhook_deliveries (${COLUMNS})
    select event.account, parked.endpoint, event.id, kind, event.subject, 'behind', 0, null, null, 0, event.observed_at
    ${REFUSED} join events as event on event.account = parked.account and event.type in (${TYPES[kind]})
      and event.subject = parked.subject and event.id > parked.from_event_id and event.id <= cursor.event_id
    where parked.kind = '${kind}'`;
}

function deadLetters(kind: keyof typeof TYPES): string {
  return `insert into webhook_deliveries (${COLUMNS})
    select letter.account, letter.endpoint, letter.event_id, '${kind}', event.subject,
      case when delivered_at is null then 'dead' else 'delivered' end, 1, null, at, status, coalesce(delivered_at, at)
    from webhook_dead_letters as letter join events as event on event.account = letter.account and event.id = letter.event_id
    where event.type in (${TYPES[kind]})
    on conflict do nothing`;
}
