import { hash } from 'node:crypto';
import { shownText } from '../../domain/orders/record-change.ts';
import type { LookupAnswer } from '../../domain/orders/lookup.ts';
import { readRecordFields } from '../../exchange/record-fields.ts';
import { readTurns } from '../../store/order-records.ts';
import type { FollowedRow } from '../../store/orders-with-records.ts';
import type { Transaction } from '../../store/port.ts';

/**
 * Gives the answer to a look-up with its record beside the newest one, where the two do not say the same. Most look-ups bring
 * a record that differs in the time of the server at most; then nothing is read.
 */
export async function compareWithNewest(
  tx: Transaction,
  row: FollowedRow,
  answer: LookupAnswer,
): Promise<LookupAnswer> {
  const { account, external_order_id: externalOrderId, earlier_body: newestBody } = row;
  if (answer.kind !== 'found' || newestBody === null) return answer;
  if (withoutServerDate(newestBody) === withoutServerDate(answer.body)) return answer;
  const [newest, received] = [readRecordFields(newestBody), readRecordFields(answer.body)];
  const turns = await readTurns(tx, account, externalOrderId);
  const hashes = { newestHash: hash('sha256', shownText(newest)), receivedHash: hash('sha256', shownText(received)) };
  return { ...answer, comparison: { newest, received, ...hashes, turns } };
}

function withoutServerDate(body: string): string {
  return body.replace(/"serverDate"\s*:\s*"[^"]*"/, '');
}
