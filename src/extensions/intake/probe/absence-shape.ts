import { isLosslessNumber } from 'lossless-json';
import { readJson } from '../../../exchange/json.ts';
import { hasShape, readAbsence, textOf } from '../../../exchange/orders.ts';
import { answerOf, type UnreadReply } from '../../../exchange/reply.ts';
import type { AbsenceShape } from '../../../orders/rules/lookup.ts';
import type { Answer } from '../../../orders/rules/record.ts';

/** An answer about an order that does not exist. */
interface AbsentReply {
  readonly reply: UnreadReply;
  readonly externalOrderId: string;
}

/** Names that change from answer to answer, or that repeat the request. */
const PASSING = /time|date|path|trace|request|instance|status|\bid$/i;
/** Names of fields that tell most about an answer, the best first. */
const TELLING = ['code', 'error', 'reason', 'title', 'message', 'detail', 'order'];

/**
 * Returns the narrowest shape under which every answer is documented absence, or undefined. `isShared` is true if
 * answers to an address that does not exist have this shape too.
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

/** Returns the shapes of an answer, the most specific first. The status alone is a shape if it is 404 or a success. */
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
