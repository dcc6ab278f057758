import { isLosslessNumber } from 'lossless-json';
import { readJson } from '../../../exchange/json.ts';
import { hasShape, readAbsence, textOf } from '../../../exchange/orders.ts';
import { answerOf, type UnreadReply } from '../../../exchange/reply.ts';
import type { AbsenceShape } from '../../../orders/rules/lookup.ts';
import type { Answer } from '../../../orders/rules/record.ts';

/** An answer about an order that does not exist. */
export type AbsentReply = Readonly<{ reply: UnreadReply; externalOrderId: string }>;

/** Names that change from answer to answer, or that repeat the request. */
const PASSING = /time|date|path|trace|request|instance|status|\bid$/i;
/** Names of fields that tell most about an answer, the best first. */
const TELLING = ['code', 'error', 'reason', 'title', 'message', 'detail', 'order'];

/**
 * Returns the narrowest shape under which every answer is documented absence, or undefined. `isShared` is true if
 * the answer to an address that does not exist has this shape too.
 */
export function commonAbsenceShape(absent: readonly AbsentReply[], ofNothing: Answer | undefined) {
  const first = answerOf(absent[0]?.reply ?? { kind: 'unknown', why: '' });
  if (first === undefined || !isOfOrder(first.httpStatus)) return undefined;
  const fitting = shapesOf(first.httpStatus, readJson(first.body)).filter((shape) =>
    absent.every(({ reply, externalOrderId }) => readAbsence(reply, externalOrderId, [shape]) === 'documented'),
  );
  const isShared = (shape: AbsenceShape) => ofNothing !== undefined && hasShape(ofNothing, shape);
  const shape = fitting.find((one) => !isShared(one)) ?? fitting[0];
  return shape && { shape, isShared: isShared(shape) };
}

/** 401, 403, 429 and 5xx speak of the account or of the exchange, not of an order. */
const isOfOrder = (status: number) => /^(?!401|403|429)[24]\d\d$/.test(String(status));

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
