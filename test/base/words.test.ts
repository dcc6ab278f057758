import { describe, expect, it } from 'vitest';
import { printable } from '../../src/base/words.ts';

describe('text for a terminal', () => {
  it.each([
    ['\u202Eabc', String.raw`\u202eabc`],
    ['a\u2028b\u2029', String.raw`a\u2028b\u2029`],
    ['\u2066x\u2069', String.raw`\u2066x\u2069`],
    ['a\u200fb\u200ec\u061cd', String.raw`a\u200fb\u200ec\u061cd`],
    ['a\u200bb\ufeff', String.raw`a\u200bb\ufeff`],
    ['a\u00ad\u180e\u2060\u3164\u2800\ufff9', String.raw`a\u00ad\u180e\u2060\u3164\u2800\ufff9`],
    ['\u{e0041}\ufffe', String.raw`\ue0041\ufffe`],
    ['\b\f', String.raw`\b\f`],
    ['\u001b[31mred\u009b\u007f\u0000', String.raw`\u001b[31mred\u009b\u007f\u0000`],
    ['ü€😀 👨‍👩‍👧 "quoted" \\', 'ü€😀 👨‍👩‍👧 "quoted" \\'],
  ])('of %j is %j', (text, expected) => {
    expect(printable(text)).toBe(expected);
  });
});
