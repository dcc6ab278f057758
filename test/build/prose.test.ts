import { expect, it } from 'vitest';
import { forbiddenIn } from '../../build/prose.ts';

const FORBIDDEN = [
  '/** What came of a request. */',
  '/** Returns an order. Whether it is due decides the pass. */',
  '// Where the key stands.',
  '// Those of other accounts wait.',
  '// It is unknown; what is kept decides.',
  '/** Undefined where there is none. */',
  "it('is final where the date is set', () => {});",
  '/** Gives the number of orders. */',
  '// The order is to be sent.',
  '// It keeps those that are due.',
  '// At most so many requests leave.',
  '// Nobody reads it.',
  '// It waits in the mean time.',
  '// That hangs on the answer.',
  '// The pass goes on\n// with the next order.',
  '// An event is parked.',
] as const;

it.each(FORBIDDEN)('finds forbidden English: %s', (code) => {
  const [found = '', ...others] = forbiddenIn(`const before = '/* ';\n${code}\n`, false);
  expect([found.split(':')[0], others]).toEqual(['2', []]);
});

it.each([
  '/** Returns the outcome of a request, or undefined if there is none. */',
  '// What is due now, and where? The pass asks each second.',
  '// The program gives up an order after a while.',
  '// `where` and `those that` are quoted.',
  "const title = 'What to do';",
  "const statement = 'select id from orders where state = ?';",
  'const path = line.replace(/where it is/, `${where}`);',
])('passes %s', (code) => {
  expect(forbiddenIn(code, false)).toEqual([]);
});

it('reads the text of a page and not its code', () => {
  const page = '# Title\n\nIt goes on\nfor days.\n\n    where it goes on\n\n```sh\nnobody\n```\n\n- Nobody reads it.\n';
  expect(forbiddenIn(page, true).map((line) => line.split(':')[0])).toEqual(['3', '12']);
});

it('leaves a string that a page of the manual quotes, whole or by its beginning', () => {
  const code = "it('goes on alone', run);";
  expect(forbiddenIn(code, false, '"goes on for days…"')).toHaveLength(1);
  for (const manual of ['`goes on alone`', 'the test "goes on…"']) expect(forbiddenIn(code, false, manual)).toEqual([]);
});
