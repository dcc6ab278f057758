import { expect, it } from 'vitest';
import { isSuccess } from '../../../src/orders/rules/record.ts';

it.each([
  [199, false],
  [200, true],
  [299, true],
  [300, false],
])('an answer with the status %d is a success: %s', (httpStatus, expected) => {
  expect(isSuccess({ httpStatus, body: '' })).toBe(expected);
});
