/** A whole number, a text and the end of a table in the words of a dialect. */
interface Words {
  readonly integer: string;
  readonly text: string;
  readonly end: string;
}

/**
 * The statements that make the table of requests that bore an `Idempotency-Key`. It has hashes of key and body alone; a request
 * without an answer is under way, or nothing tells how it ended.
 */
export function idempotentRequests({ integer, text, end }: Words): readonly string[] {
  return [
    `create table idempotent_requests (account ${text} not null, key_hash ${text} not null, body_hash ${text} not null,
      http_status ${integer}, answer ${text}, made_at ${text} not null,
      constraint idempotent_requests_key primary key (account, key_hash)) ${end}`,
    'create index idempotent_requests_by_age on idempotent_requests (account, made_at)',
  ];
}
