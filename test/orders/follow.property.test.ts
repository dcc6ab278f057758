import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isAllowedMove, type OrderState } from '../../src/orders/rules/states.ts';
import { acceptedOrders, keptRecord, type TestProgram } from '../support/test-program.ts';
import { bodyOf, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../support/scripted-exchange.ts';

describe('any answers at all', () => {
  const statuses = fc.constantFrom('REQUEST', 'NEW', 'Paid', ' x ', '');
  const date = fc.oneof(
    { weight: 5, arbitrary: fc.integer({ min: 0, max: 9 }).map((hour) => `2026-01-05T0${hour}:00:00.000Z`) },
    fc.constantFrom(undefined, null, '<timestamp>'),
  );
  const said = fc.record({
    status: statuses,
    crypto: statuses,
    fiat: fc.option(statuses),
    modificationDate: date,
    completionDate: date,
    serverDate: date,
  });
  const answer = fc.oneof(
    { weight: 6, arbitrary: said.map((one) => ({ fields: one, answer: undefined })) },
    fc
      .constantFrom<ScriptedAnswer>(NOT_FOUND, refusal(500), 'reset', 'truncated', { status: 200, body: '<html>' })
      .map((one) => ({ fields: undefined, answer: one })),
  );
  type Fields = Record<string, unknown>;
  const script = fc.array(answer, { minLength: 4, maxLength: 12 });

  it('leave each row as the newest record says, and each change in the history once and in order', async () => {
    const property = fc.assert(
      fc.asyncProperty(fc.array(script, { minLength: 2, maxLength: 6 }), async (scripts) => {
        const ids = scripts.map((_, index) => `o${index}`);
        const { program, exchange, lookUp } = await acceptedOrders(ids);
        const given = new Map<string, Fields[]>(ids.map((id) => [id, []]));
        let step = 0;
        exchange.answer = ({ externalOrderId: id }) => {
          const next = scripts[ids.indexOf(id)]?.[step];
          if (next?.fields === undefined) return next?.answer ?? NOT_FOUND;
          // No two answers are the same: an exchange that goes back and forth is another matter.
          const fields = { ...next.fields, resultMessage: `${step}` };
          given.get(id)?.push(fields);
          return record(id, fields);
        };
        for (step = 0; step < 12; step += 1) await lookUp();
        for (const id of ids) expect(recorded(program, id)).toEqual(foretold(id, given.get(id) ?? []));
        for (const id of ids) expectMoves(program, id);
      }),
      { numRuns: 6 },
    );
    await expect(property).resolves.toBeUndefined();
  });

  const FIELDS = [
    ['order.status', 'status', 'order_status'],
    ['cryptoTransaction.status', 'crypto', 'crypto_status'],
    ['fiatTransaction.status', 'fiat', 'fiat_status'],
  ] as const;

  /** The facts that must be known of an order to which these records were given, in this order. */
  function foretold(id: string, given: readonly Fields[]) {
    let newest = Number.NEGATIVE_INFINITY;
    const taken = given.filter(({ modificationDate }) => {
      const time = typeof modificationDate === 'string' ? Date.parse(modificationDate) : Number.NaN;
      if (time < newest) return false;
      if (!Number.isNaN(time)) newest = time;
      return true;
    });
    const changes = FIELDS.map(([, name]) =>
      taken.map((fields) => fields[name] ?? null).filter((value, index, all) => value !== (all[index - 1] ?? null)),
    );
    return { record: taken.length === 0 ? undefined : bodyOf(record(id, taken.at(-1))), changes };
  }

  function recorded(program: TestProgram, id: string) {
    const values = program.merchant
      .prepare('select new_value from order_events where external_order_id = ? and field = ? order by id')
      .pluck();
    return { record: keptRecord(program, id), changes: FIELDS.map(([field]) => values.all(id, field)) };
  }

  /** Each event begins with the end of the one before it, states move along the table, and the row is the end of it all. */
  function expectMoves(program: TestProgram, id: string): void {
    const last = new Map<string, string | null>([['state', 'pending']]);
    const events = program.merchant
      .prepare('select field, old_value, new_value from order_events where external_order_id = ? order by id')
      .all(id) as { field: string; old_value: string | null; new_value: string | null }[];
    for (const { field, old_value: from, new_value: to } of events) {
      if (field === 'finding' || field.startsWith('record.')) continue;
      expect(from).toBe(last.get(field) ?? null);
      if (field === 'state') expect(isAllowedMove(from as OrderState, to as OrderState)).toBe(true);
      last.set(field, to);
    }
    const row = program.row(id);
    expect(row['state']).toBe(last.get('state'));
    for (const [field, , column] of FIELDS) expect(row[column]).toBe(last.get(field) ?? null);
  }
});
