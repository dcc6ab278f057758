import { describe, expect, it } from 'vitest';
import type { FindingClassName } from '../../../src/findings/rules/classes.ts';
import type { KnownFinding } from '../../../src/findings/rules/finding.ts';
import { contradictionsBefore } from '../../../src/findings/rules/rules.ts';
import { contextWith } from '../../support/records.ts';

const CLASSES: readonly FindingClassName[] = [
  'IDENTITY_MISMATCH',
  'MERCHANT_MISMATCH',
  'ID_COLLISION',
  'PAIR_MISMATCH',
  'AMOUNT_MISMATCH',
  'TYPE_MISMATCH',
  'STUCK',
];

const known = (status: KnownFinding['status']) =>
  CLASSES.map((name, index) => ({ class: name, expected: `not ${name}`, actual: name, id: index + 1, status }));

/** A record that has nothing but its id. */
const EMPTY = {
  merchantId: null,
  creationDate: null,
  fromCurrency: null,
  orderType: null,
  inputAsset: null,
};

describe('what a record has nothing to judge by', () => {
  it.each(['open', 'acknowledged'] as const)('contradicts the row as it did before: %s', (status) => {
    const before = contradictionsBefore(contextWith({ record: EMPTY }), known(status), { tolerance: '0' });
    expect(before).toEqual([
      { kind: 'merchant', expected: 'not MERCHANT_MISMATCH', actual: 'MERCHANT_MISMATCH' },
      { kind: 'age', expected: 'not ID_COLLISION', actual: 'ID_COLLISION' },
      { kind: 'pair', expected: 'not PAIR_MISMATCH', actual: 'PAIR_MISMATCH' },
      { kind: 'type', expected: 'not TYPE_MISMATCH', actual: 'TYPE_MISMATCH' },
      { kind: 'amount', expected: 'not AMOUNT_MISMATCH', actual: 'AMOUNT_MISMATCH' },
    ]);
  });

  it('contradicts nothing if it did not, or does no more', () => {
    expect(contradictionsBefore(contextWith({ record: EMPTY }), [], { tolerance: '0' })).toEqual([]);
    expect(contradictionsBefore(contextWith({ record: EMPTY }), known('resolved'), { tolerance: '0' })).toEqual([]);
  });

  it('is nothing that the record does judge', () => {
    const before = contradictionsBefore(contextWith({ record: { creationDate: null } }), known('open'), {
      tolerance: '0',
    });
    expect(before.map(({ kind }) => kind)).toEqual(['age']);
  });
});
