import { describe, expect, it } from 'vitest';
import { classTexts, placeOfFinding } from '../../../src/extensions/operate/finding-classes.ts';
import { FINDING_CLASSES, type FindingClassName } from '../../../src/findings/rules/classes.ts';

const NAMES = Object.keys(FINDING_CLASSES) as FindingClassName[];

describe('the table of classes', () => {
  it('has the gravest first, and places what this version does not know before all others', () => {
    const places = NAMES.map((name) => placeOfFinding(FINDING_CLASSES[name].severity, name));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(new Set(places).size).toBe(NAMES.length);
    expect(placeOfFinding('fatal', 'OF_ANOTHER_VERSION')).toBeLessThan(Math.min(...places));
    // The severity that a finding was stored with goes before that of its class.
    expect(placeOfFinding('warning', 'FAIL_OVER')).toBeGreaterThan(placeOfFinding('error', 'PREORDER_TOKEN_MISMATCH'));
  });

  it.each(NAMES)('says of %s in sentences what it means, and what to do', (name) => {
    const { meaning, advice } = classTexts(name);
    for (const sentence of [meaning, advice])
      expect(sentence).toMatch(/^[A-Z](?:[^.|\n]|\.(?=[a-z])|\. (?=[A-Z]|order-sync ))+\.$/);
  });
});
