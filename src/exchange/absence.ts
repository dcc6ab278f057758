import { isLosslessNumber } from 'lossless-json';
import type { AbsenceShape } from '../domain/orders/lookup.ts';
import { isSuccess, type Answer } from '../domain/record.ts';
import { readJson, valueAt, withDigits } from './json.ts';
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
  if ((withDigits(valueAt(value, '/externalOrderId')) ?? externalOrderId) !== externalOrderId) return undefined;
  const isConfirmed = shapes.some((shape) => hasShape(answer, shape));
  if ((reply.kind === 'refused' && status === 404) || isConfirmed) return 'documented';
  return isLikely(answer, value) ? 'likely' : undefined;
}

/** Tells whether an answer says nothing of an order, by its status or its body. */
function isLikely(answer: Answer, value: unknown): boolean {
  const { httpStatus: status, body } = answer;
  return status === 404 || status === 204 || (isSuccess(answer) && saysNothing(body, value));
}

/** Tells whether an answer has a shape. A success is named by its mere status only where it says nothing of an order. */
function hasShape(answer: Answer, shape: AbsenceShape): boolean {
  if (shape.status !== answer.httpStatus) return false;
  const value = readJson(answer.body);
  return shape.pointer === undefined ? isLikely(answer, value) || !isSuccess(answer) : stands(value, shape);
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

/** An answer about an order that does not exist. */
interface AbsentReply {
  readonly reply: UnreadReply;
  readonly externalOrderId: string;
}

/** Names that change from answer to answer, or that repeat the request. */
const PASSING = /time|date|path|trace|request|instance|status|\bid$/i;
/** Names that say best what an answer means, the best first. */
const TELLING = ['code', 'error', 'reason', 'title', 'message', 'detail', 'order'];

/**
 * The narrowest shape that makes all of the answers documented absence; undefined where there is none. `isShared` where
 * answers to an address that does not exist have the shape too.
 */
export function commonAbsenceShape(
  absent: readonly AbsentReply[],
  others: readonly Answer[],
): { readonly shape: AbsenceShape; readonly isShared: boolean } | undefined {
  const first = answerOf(absent[0]?.reply ?? { kind: 'unknown', why: '' });
  if (first === undefined || !isOfOrder(first.httpStatus)) return undefined;
  const isShapeOf =
    (shape: AbsenceShape) =>
    ({ reply, externalOrderId }: AbsentReply) =>
      readAbsence(reply, externalOrderId, [shape]) === 'documented';
  const fitting = shapesOf(first.httpStatus, readJson(first.body)).filter((shape) => absent.every(isShapeOf(shape)));
  const isShared = (shape: AbsenceShape) => others.some((answer) => hasShape(answer, shape));
  const shape = fitting.find((one) => !isShared(one)) ?? fitting[0];
  return shape && { shape, isShared: isShared(shape) };
}

/** 401, 403, 429 and 5xx speak of the account or of the exchange, not of an order. */
function isOfOrder(status: number): boolean {
  return /^[24]\d\d$/.test(String(status)) && ![401, 403, 429].includes(status);
}

/** The shapes of an answer from the one that says most to its mere status, which names an answer that says nothing alone. */
function shapesOf(status: number, body: unknown): readonly AbsenceShape[] {
  const whole = body === undefined ? undefined : textOf(body);
  const scalars = whole === undefined ? scalarsIn(body) : [['', whole] as const];
  const shapes = scalars
    .toSorted(([one], [other]) => rank(one) - rank(other))
    .map(([pointer, value]) => ({ status, pointer, value }));
  return status === 404 || status < 300 ? [...shapes, { status }] : shapes;
}

/** The values in a body, and in the objects right below it, that do not change by themselves. */
function scalarsIn(body: unknown, above = ''): readonly (readonly [pointer: string, value: string])[] {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || isLosslessNumber(body)) return [];
  return Object.entries(body).flatMap(([name, value]) => {
    const pointer = `${above}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    const text = textOf(value);
    if (text === undefined) return above === '' ? scalarsIn(value, pointer) : [];
    return PASSING.test(name) ? [] : [[pointer, text] as const];
  });
}

function rank(pointer: string): number {
  const at = TELLING.indexOf(pointer.split('/').at(-1) ?? '');
  return at < 0 ? TELLING.length : at;
}
