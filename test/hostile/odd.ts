import fc from 'fast-check';

/** Texts that programs stumble over. */
export const ODD_TEXTS = [
  '',
  ' ',
  '\t',
  '\0',
  'a\0b',
  '\uFEFF',
  '\uFEFFid',
  '\uD800',
  'a\uDC00',
  '\uFFFD',
  '\uFFFF',
  '\u202Egnp.exe',
  '\u200F\u200Fabc',
  'e\u0301\u0301\u0301',
  'a'.concat('\u0300'.repeat(200)),
  '\u2028',
  '\u2029',
  '\u0085',
  '\u001B[2J\u001B]0;title\u0007',
  '\u009B31m',
  '\r\nx-injected: 1',
  '"',
  "'",
  '\\',
  '`$(id)`',
  "'; drop table merchant_orders; --",
  '%',
  '_',
  '*',
  '?',
  '[a-',
  '%00',
  '%2e%2e%2f',
  '%',
  '%ZZ',
  '..',
  '.',
  '/',
  '../../etc/passwd',
  '=1+1',
  "=cmd|' /C calc'!A0",
  '+1',
  '-1',
  '@SUM(A1)',
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '</script>',
  ']]>',
  '<!--',
  '&amp;&#0;',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'true',
  'NaN',
  '😀'.repeat(50),
  'ß'.repeat(40),
  'İI',
  '0',
  'x'.repeat(4_001),
  'x'.repeat(70_000),
] as const;

/** Numbers as JSON, SQL and people write them. */
export const ODD_NUMBERS = [
  '0',
  '-0',
  '-0.0',
  '1',
  '1e400',
  '-1e400',
  '0.1e-400',
  '1e-7',
  '1E+2',
  '1e2147483648',
  '123456789012345678901234567890.123456789012345678901234567890',
  '9007199254740993',
  '9223372036854775808',
  '-9223372036854775809',
  '0.1',
  '.5',
  '5.',
  '00',
  '01.50',
  '0x10',
  '1_000',
  '1,5',
  '1 000',
  'NaN',
  'Infinity',
  '-Infinity',
  '١٢٣',
  '１２',
  `1${'0'.repeat(5_000)}`,
  `0.${'0'.repeat(5_000)}1`,
] as const;

/** Times of every kind. */
export const ODD_TIMES = [
  '2026-01-05T12:00:00.000Z',
  '2026-01-05T12:00:00Z',
  '2026-01-05 12:00:00',
  '2026-01-05',
  '2026-02-30T00:00:00.000Z',
  '2026-01-05T24:00:00.000Z',
  '2026-01-05T23:59:60.000Z',
  '2026-01-05T12:00:00.000+14:00',
  '2026-01-05T12:00:00.123456789Z',
  '0000-01-01T00:00:00.000Z',
  '-000001-01-01T00:00:00.000Z',
  '+275760-09-13T00:00:00.000Z',
  '+275760-09-13T00:00:00.001Z',
  '9999-12-31T23:59:59.999Z',
  '1767614400',
  '1767614400000',
  '-1',
  '1e20',
  'Tue, 06 Jan 2026 12:00:00 GMT',
  'yesterday',
  '<timestamp>',
  '30d',
  '-1d',
  '99999999999d',
] as const;

/** A text that is odd, or made of any characters at all. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom<string>(...ODD_TEXTS) },
  { weight: 1, arbitrary: fc.constantFrom<string>(...ODD_NUMBERS) },
  { weight: 1, arbitrary: fc.constantFrom<string>(...ODD_TIMES) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: fc.nat(0x30).map((code) => String.fromCharCode(code)), maxLength: 8 }) },
);

/** JSON in place of a value that is meant: as text, as no program would keep some of it. */
export const oddJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: oddText.map((text) => JSON.stringify(text)) },
  { weight: 3, arbitrary: fc.constantFrom<string>(...ODD_NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom<string>(...ODD_TIMES).map((text) => JSON.stringify(text)) },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      'null',
      'true',
      'false',
      '{}',
      '[]',
      '[null]',
      '[[1]]',
      '{"__proto__":{"status":"COMPLETED"}}',
      '{"constructor":{"prototype":{"id":"x"}}}',
      '{"toString":1,"valueOf":null,"length":-1}',
      '{"a":1,"a":2}',
      '"\\u0000"',
      '"\\ud800"',
      '"\\x41"',
      '"unclosed',
      '',
      ',',
      '//',
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom(200, 5_000, 100_000).map((depth) => '['.repeat(depth) + ']'.repeat(depth)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(200, 5_000, 50_000).map((depth) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`),
  },
);

const MARK = '\u2063odd\u2063';

/**
 * JSON as it is meant with at most one thing wrong: a value, a field that is missing, another field, a field twice; the
 * whole; or a place in the text.
 */
export function oddObject(meant: object, keys: readonly string[] = []): fc.Arbitrary<string> {
  if (Object.keys(meant).length === 0) return oddJson;
  const paths = pathsOf(meant);
  const text = JSON.stringify(meant);
  const anyKey = fc.constantFrom('__proto__', 'constructor', 'toString', 'a'.repeat(500), '', '\0', ...keys);
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(text) },
    {
      weight: 8,
      arbitrary: fc
        .tuple(fc.constantFrom(...paths), oddJson)
        .map(([path, value]) => withPart(meant, path, MARK).replace(JSON.stringify(MARK), () => value)),
    },
    { weight: 2, arbitrary: fc.constantFrom(...paths).map((path) => withPart(meant, path, undefined)) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(anyKey, oddJson)
        .map(([key, value]) => `${text.slice(0, -1)},${JSON.stringify(key)}:${value}}`),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom(...paths), oddJson).map(([path, value]) => twice(meant, path, value)),
    },
    { weight: 1, arbitrary: oddJson },
    { weight: 3, arbitrary: oddPlace(text) },
  );
}

/** A text that is cut, or has something odd in it. */
export function oddPlace(text: string): fc.Arbitrary<string> {
  return fc
    .tuple(fc.nat(text.length), fc.nat(8), fc.oneof(fc.constant(''), oddText))
    .map(([at, removed, put]) => text.slice(0, at) + put + text.slice(at + removed));
}

/** The bytes of a text, one character each, so that JSON can keep them: as UTF-8, or as something else. */
export function oddBytes(text: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const utf8 = text.map((one) => Buffer.from(one).toString('latin1'));
  return fc.oneof(
    { weight: 8, arbitrary: utf8 },
    { weight: 1, arbitrary: utf8.map((bytes) => `\xEF\xBB\xBF${bytes}`) },
    { weight: 1, arbitrary: text.map((one) => Buffer.from(`\uFEFF${one}`, 'utf16le').toString('latin1')) },
    { weight: 1, arbitrary: text.map((one) => Buffer.from(one, 'latin1').toString('latin1')) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          utf8,
          fc.nat(),
          fc.constantFrom('\xFF', '\xC0\x80', '\xED\xA0\x80', '\xF8\x88\x80\x80\x80', '\x80', '\0'),
        )
        .map(
          ([bytes, at, put]) => bytes.slice(0, at % (bytes.length + 1)) + put + bytes.slice(at % (bytes.length + 1)),
        ),
    },
    { weight: 1, arbitrary: utf8.chain((bytes) => fc.nat(bytes.length).map((length) => bytes.slice(0, length))) },
  );
}

/** Bytes that were kept as a text. */
export function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1');
}

type PathIn = readonly (string | number)[];

function pathsOf(value: unknown, path: PathIn = []): readonly PathIn[] {
  if (typeof value !== 'object' || value === null) return [path];
  const inner = Object.entries(value).flatMap(([key, one]) => pathsOf(one, [...path, key]));
  return path.length === 0 ? inner : [path, ...inner];
}

/** JSON of an object with a part in place of another; undefined leaves it out. */
function withPart(meant: object, path: PathIn, part: unknown): string {
  const copy = structuredClone(meant) as Record<string, unknown>;
  let at = copy;
  for (const key of path.slice(0, -1)) at = at[key] as Record<string, unknown>;
  const last = path.at(-1) ?? '';
  if (part === undefined) delete at[last];
  else at[last] = part;
  return JSON.stringify(copy);
}

/** The field stands twice, the second time with this value. */
function twice(meant: object, path: PathIn, value: string): string {
  const key = JSON.stringify(String(path.at(-1)));
  const marked = withPart(meant, path, MARK);
  let part: unknown = meant;
  for (const one of path) part = (part as Record<string, unknown>)[one];
  return marked.replace(JSON.stringify(MARK), () => `${JSON.stringify(part)},${key}:${value}`);
}
