import { isLosslessNumber } from 'lossless-json';
import type { AbsenceShape } from '../domain/orders/lookup.ts';
import { isSuccess } from '../domain/record.ts';
import { readJson, valueAt } from './json.ts';
import { answerOf, type UnreadReply } from './reply.ts';

/** The fields of a record (§2.7) beside its order. */
const RECORD_FIELDS: readonly string[] = ['externalOrderId', 'merchant', 'percent', 'percentEnabled', 'reward'];

/**
 * What a reply to a look-up that brought no record shows of the order's absence: documented by the 404 of §7 or by a shape
 * that the merchant has confirmed, likely by an answer that says nothing of an order; undefined where it shows nothing. An
 * answer that bears an order, or another order's id, never shows absence, whatever the settings say.
 */
export function readAbsence(
  reply: UnreadReply,
  externalOrderId: string,
  shapes: readonly AbsenceShape[],
): 'documented' | 'likely' | undefined {
  const answer = answerOf(reply);
  if (answer === undefined || /"order"\s*:\s*[{[]/.test(answer.body)) return undefined;
  const { httpStatus: status, body } = answer;
  const value = readJson(body);
  if ((valueAt(value, '/externalOrderId') ?? externalOrderId) !== externalOrderId) return undefined;
  const isLikely = status === 404 || status === 204 || (isSuccess(answer) && saysNothing(body, value));
  const isConfirmed = (shape: AbsenceShape) =>
    shape.status === status && (shape.pointer === undefined ? isLikely || !isSuccess(answer) : stands(value, shape));
  if ((reply.kind === 'refused' && status === 404) || shapes.some(isConfirmed)) return 'documented';
  return isLikely ? 'likely' : undefined;
}

/** Tells whether a body is empty, or is a record without its order. */
function saysNothing(body: string, value: unknown): boolean {
  if (body.trim() === '' || value === null) return true;
  if (typeof value !== 'object' || isLosslessNumber(value)) return false;
  if (valueAt(value, '/order') === null) return true;
  return Object.keys(value).every((name) => !Array.isArray(value) && RECORD_FIELDS.includes(name));
}

function stands(body: unknown, { pointer = '', value: expected }: AbsenceShape): boolean {
  const value = valueAt(body, pointer);
  if (value === undefined) return false;
  return expected === undefined || textOf(value) === expected;
}

/** The text by which a setting names a value; undefined for what no setting names. */
function textOf(value: unknown): string | undefined {
  if (isLosslessNumber(value)) return value.value;
  if (typeof value !== 'object' || value === null) return String(value);
  if (Object.keys(value).length > 0) return undefined;
  return Array.isArray(value) ? '[]' : '{}';
}
