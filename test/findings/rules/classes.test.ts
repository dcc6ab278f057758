import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { FINDING_CLASSES, GUESSED_CLASSES, SEVERITIES, severityOf } from '../../../src/findings/rules/classes.ts';
import { RULES } from '../../../src/findings/rules/rules.ts';

const MANUAL = readFileSync(new URL('../../../docs/reconciliation.md', import.meta.url), 'utf8');
const CLASSES = Object.entries(FINDING_CLASSES);

describe('the table of classes', () => {
  it('knows two kinds, and the severity of each class by its name', () => {
    for (const [name, { kind, severity }] of CLASSES) {
      expect(['state', 'change']).toContain(kind);
      expect(SEVERITIES).toContain(severity);
      expect(severityOf(name)).toBe(severity);
    }
    expect(['OF_ANOTHER_VERSION', 'constructor'].map(severityOf)).toEqual([null, null]);
  });

  it('has the class of every rule', () => {
    for (const name of Object.keys(RULES)) expect(FINDING_CLASSES).toHaveProperty(name);
  });

  it('names as guesses the classes that the manual names', () => {
    const [, paragraph = ''] = /\nSome classes are a guess([^]*?)`reconcile\.ignore`/.exec(MANUAL) ?? [];
    expect(paragraph.match(/[A-Z]+(?:_[A-Z]+)+/g)).toEqual(GUESSED_CLASSES);
  });
});
