import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  amountField,
  currencyOf,
  DecimalSum,
  isDecimal,
  isWithin,
  MAX_DIGITS,
  readDecimal,
  sameDecimal,
  type Tolerance,
} from '../../src/base/decimal.ts';
import { quote } from '../../src/base/text.ts';

/** A plain decimal as whole units of 10^-scale: the exact number, without the library under test. */
interface Scaled {
  readonly units: bigint;
  readonly scale: number;
}

const scaled = fc.record({
  units: fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
  scale: fc.integer({ min: 0, max: 20 }),
});

function plain({ units, scale }: Scaled): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  return `${units < 0n ? '-' : ''}${whole}${scale === 0 ? '' : `.${digits.slice(-scale)}`}`;
}

const SCALE = 60;

/** A plain decimal in units of 10^-60. */
function exactly(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(SCALE, '0'));
}

function text(input: unknown): string | undefined {
  const reading = readDecimal(input);
  return reading.ok ? reading.text : undefined;
}

describe('reading a decimal', () => {
  it.each(['0', '1', '-1', '1.50', '0.000000000000000001', '12345678901234567.123456789012345678', '9'.repeat(64)])(
    'keeps %s digit for digit',
    (input) => {
      expect(text(input)).toBe(input);
    },
  );

  it('keeps any plain decimal digit for digit', () => {
    fc.assert(
      fc.property(scaled, (number) => {
        expect(text(plain(number))).toBe(plain(number));
      }),
    );
  });

  it.each([
    ['1e3', '1000'],
    ['1E3', '1000'],
    ['1.0e+20', '100000000000000000000'],
    ['1.23456789012346e+16', '12345678901234600'],
    ['1.5e-7', '0.00000015'],
    ['-2.5e1', '-25'],
    ['1e0', '1'],
    ['1e63', `1${'0'.repeat(63)}`],
    ['1e-63', `0.${'0'.repeat(62)}1`],
  ])('writes %s out as %s', (input, written) => {
    expect(text(input)).toBe(written);
  });

  it('writes an exponent out to the same number', () => {
    fc.assert(
      fc.property(scaled, fc.integer({ min: -20, max: 20 }), (number, exponent) => {
        const written = text(`${plain(number)}e${exponent}`);
        const digits = number.scale - exponent;
        expect(exactly(written ?? '')).toBe(number.units * 10n ** BigInt(SCALE - digits));
      }),
    );
  });

  it.each([
    '',
    ' ',
    '1 ',
    ' 1',
    '1\n',
    '+1',
    '.5',
    '5.',
    '01',
    '00.5',
    '--1',
    '1,5',
    '1_000',
    '0x10',
    'NaN',
    'Infinity',
    '-Infinity',
    'Inf',
    'one',
    '1e',
    '1e+',
    'e5',
    '1.2.3',
    '١',
    '１',
    '1\u0000',
    '1e99999',
    '1'.repeat(10_000),
  ])('refuses %j', (input) => {
    expect(readDecimal(input)).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/not a decimal number/) as string,
    });
  });

  it.each([1, 1n, null, undefined, Number.NaN, Buffer.from('1'), {}, ['1'], true])(
    'refuses %o, which is not text',
    (input) => {
      expect(readDecimal(input)).toEqual({ ok: false, reason: expect.stringContaining('decimal') as string });
      expect(isDecimal(input)).toBe(false);
    },
  );

  it('reads no text of more than 128 characters, whatever it says', () => {
    expect(text(`1.${'0'.repeat(124)}e0`)).toBe('1');
    expect(text(`1.${'0'.repeat(125)}e0`)).toBeUndefined();
  });

  it.each(['1'.repeat(65), `0.${'1'.repeat(64)}`, '1e64', '1e-64', '1e400', '1e-400', '-1e9999', '1.5e64'])(
    'refuses more than 64 digits: %s',
    (input) => {
      expect(readDecimal(input)).toMatchObject({ ok: false, reason: expect.stringMatching(/64 digits/) as string });
    },
  );

  it('never writes out more than 64 digits, whatever the text', () => {
    const part = fc.stringMatching(/^\d{1,80}$/);
    const exponent = fc.oneof(
      fc.constant(''),
      fc.integer({ min: -9_999, max: 9_999 }).map((number) => `e${number}`),
    );
    fc.assert(
      fc.property(part, part, exponent, (whole, fraction, power) => {
        const written = text(`${whole}.${fraction}${power}`);
        expect((written ?? '').replaceAll(/\D/g, '').length).toBeLessThanOrEqual(MAX_DIGITS);
      }),
    );
  });

  it('never throws and never quotes a long text whole', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 300 }), (input) => {
        const reading = readDecimal(input);
        expect(reading.ok ? 0 : reading.reason.length).toBeLessThan(600);
      }),
    );
  });
});

it.each([
  ['1.5', true],
  ['1e3', true],
  ['1'.repeat(64), true],
  ['1'.repeat(65), false],
  ['NaN', false],
  ['', false],
])('%j is a decimal: %s', (input, expected) => {
  expect(isDecimal(input)).toBe(expected);
});

describe('comparing decimals', () => {
  it.each([
    ['1.5', '1.50', true],
    ['0', '-0', true],
    ['1e2', '100', true],
    ['1.5', '1.500000000000000000000000000001', false],
    ['12345678901234567.123456789012345678', '12345678901234567.123456789012345679', false],
    ['0.1', '0.10000000000000000555', false],
    ['NaN', 'NaN', false],
    ['1', 'NaN', false],
    ['', '', false],
  ])('%s and %s: %s', (left, right, isSame) => {
    expect(sameDecimal(left, right)).toBe(isSame);
    expect(sameDecimal(right, left)).toBe(isSame);
  });

  it('finds equal numbers equal however many zeros end them, and a changed last digit different', () => {
    fc.assert(
      fc.property(scaled, fc.nat(3), (number, zeros) => {
        const longer = { units: number.units * 10n ** BigInt(zeros), scale: number.scale + zeros };
        expect(sameDecimal(plain(number), plain(longer))).toBe(true);
        expect(sameDecimal(plain(number), plain({ ...longer, units: longer.units + 1n }))).toBe(false);
      }),
    );
  });
});

describe('a sum of decimals', () => {
  it('is exact, in any order', () => {
    fc.assert(
      fc.property(fc.array(scaled, { maxLength: 30 }), (numbers) => {
        const sum = new DecimalSum();
        const reversed = new DecimalSum();
        for (const number of numbers) sum.add(plain(number));
        for (const number of numbers.toReversed()) reversed.add(plain(number));
        const total = numbers.reduce((so, number) => so + number.units * 10n ** BigInt(SCALE - number.scale), 0n);
        expect(exactly(sum.toString())).toBe(total);
        expect(reversed.toString()).toBe(sum.toString());
      }),
    );
  });

  it('is written without an exponent, however small or large', () => {
    const sum = new DecimalSum();
    sum.add('0.000000000000000000000000000001');
    expect(sum.toString()).toBe('0.000000000000000000000000000001');
    sum.add('1000000000000000000000000000000');
    expect(sum.toString()).toBe('1000000000000000000000000000000.000000000000000000000000000001');
  });

  it('adds tenths without an error of binary floating point', () => {
    const sum = new DecimalSum();
    for (let count = 0; count < 1_000; count += 1) sum.add('0.1');
    expect(sum.toString()).toBe('100');
  });
});

describe('a sum of what may be no decimal', () => {
  it.each(['1.5', '-1.5', '0.00', '1e3', '-1.5E-7', '1'.repeat(64), `0.${'1'.repeat(63)}`, `${'1'.repeat(31)}.5`])(
    'has %s, exactly',
    (input) => {
      const sum = new DecimalSum();
      sum.add('0.25');
      expect(sum.addReadable(input)).toBe(true);
      sum.subtract(input);
      expect(sum.toString()).toBe('0.25');
      expect(sum.addReadable(input)).toBe(true);
      sum.subtract('0.25');
      expect(sameDecimal(sum.toString(), input)).toBe(true);
    },
  );

  it.each(['', '01', '1.', 'x1', '1x', '1.5x', 'x1.5', '1.x', '1,5', null, 1, 1n, Buffer.from('1')])(
    'is as it was after %o',
    (input) => {
      const sum = new DecimalSum();
      expect(sum.addReadable(input)).toBe(false);
      expect(sum.toString()).toBe('0');
    },
  );
});

describe('quoting', () => {
  it('escapes what would break a line, and cuts what is long', () => {
    expect(quote('a\n"b"')).toBe(String.raw`"a\n\"b\""`);
    expect(quote('x'.repeat(61))).toBe(`"${'x'.repeat(60)}…"`);
  });
});

describe('the amount that an order is compared with', () => {
  it.each([
    ['INPUT', undefined, 'inputAsset'],
    ['INPUT', 'outputAsset', 'inputAsset'],
    ['OUTPUT', 'outputAsset', 'outputAsset'],
    ['OUTPUT', undefined, undefined],
    ['input', 'outputAsset', undefined],
    [null, 'outputAsset', undefined],
  ] as const)('of position %s, if OUTPUT is %s, is %s', (position, outputPosition, field) => {
    expect(amountField(position, { outputPosition })).toBe(field);
  });

  it('is of the first currency of the pair if it goes in, and of the second if it comes out', () => {
    const pair = { fromCurrency: 'BTC', toCurrency: 'EUR' };
    expect([currencyOf('inputAsset', pair), currencyOf('outputAsset', pair)]).toEqual(['BTC', 'EUR']);
  });
});

describe('two amounts', () => {
  it.each<[string, string, Tolerance, string | null, boolean]>([
    ['1', '1', '0', 'BTC', true],
    ['1', '1.01', '0.01', 'BTC', true],
    ['1.01', '1', '0.01', null, true],
    ['1', '1.0100000000000000000000001', '0.01', 'BTC', false],
    ['1', '1.5', { BTC: '0.5', default: '0' }, 'BTC', true],
    ['1', '1.5', { BTC: '0.5', default: '0' }, 'EUR', false],
    ['1', '1.5', { BTC: '0', default: '0.5' }, 'EUR', true],
    ['1', '1.5', { BTC: '0', default: '0.5' }, null, true],
    ['1', '1.5', { BTC: '0.5' }, 'EUR', false],
    ['1', '1', { BTC: '0.5' }, 'EUR', true],
    // A name that every object has is no currency of the settings.
    ['1', '1', { BTC: '0.5' }, 'constructor', true],
  ])('%s and %s are equal within %o of %s: %s', (left, right, tolerance, currency, isEqual) => {
    expect(isWithin(new Big(left), new Big(right), tolerance, currency)).toBe(isEqual);
  });
});
