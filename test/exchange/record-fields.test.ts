import { describe, expect, it } from 'vitest';
import { RECORD_PATHS } from '../../src/orders/rules/record.ts';
import { readRecordFields } from '../../src/exchange/record-view.ts';

/** Every field of a record, each with its path as its value. */
function wholeRecord(): unknown {
  const record: Record<string, unknown> = {};
  for (const path of RECORD_PATHS) {
    const names = path.split('.');
    let inner = record;
    for (const name of names.slice(0, -1)) inner = (inner[name] ??= {}) as Record<string, unknown>;
    inner[names.at(-1) ?? ''] = path;
  }
  return record;
}

function read(body: string) {
  const { documented, other } = readRecordFields(body);
  return { documented: Object.fromEntries(documented), other: Object.fromEntries(other) };
}

describe('the fields of a record', () => {
  it('are all of the document, each by its path', () => {
    const { documented, other } = read(JSON.stringify(wholeRecord()));
    expect(documented).toEqual(Object.fromEntries(RECORD_PATHS.map((path) => [path, path])));
    expect(other).toEqual({});
  });

  it('keep every digit, and what is null is left out', () => {
    const body =
      '{"percent":1.50,"percentEnabled":false,"reward":null,"order":{"number":12345678901234567890,"id":""}}';
    expect(read(body)).toEqual({
      documented: { percent: '1.50', percentEnabled: 'false', 'order.number': '12345678901234567890', 'order.id': '' },
      other: {},
    });
  });

  it('are listed separately if the document does not show them, or shows another type', () => {
    const body =
      '{"order.id":"x","reward":[1.0],"percent":{"of":2},"order":[],"merchant":"m","__proto__":{"status":1}}';
    expect(read(body)).toEqual({
      documented: {},
      other: {
        '"order.id"': '"x"',
        reward: '[1.0]',
        'percent.of': '2',
        order: '[]',
        merchant: '"m"',
        ['__proto__.status']: '1',
      },
    });
  });

  it.each(['', 'null', '[]', '<html>', '"text"'])('are none in %j', (body) => {
    expect(read(body).documented).toEqual({});
  });

  it('are text whatever the exchange writes', () => {
    const forged =
      '{"percent":{"isLosslessNumber":true,"value":{"x":1}},"reward":{"value":"5","isLosslessNumber":true}}';
    expect(read(forged).documented).toEqual({});
  });
});
