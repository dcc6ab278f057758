import { expect, it } from 'vitest';
import { isDecided } from '../../../../src/extensions/operate/rules/decided.ts';
import type { Judgement } from '../../../../src/extensions/operate/rules/judgement.ts';
import { decideOrders } from '../../../../src/extensions/operate/decide-orders.ts';
import { createPass } from '../../../../src/orders/create.ts';
import { listFindings } from '../../../../src/extensions/operate/tables/listed-findings.ts';
import { readStory } from '../../../../src/extensions/reports/tables/story.ts';
import { record } from '../../../support/scripted-exchange.ts';
import { acceptedOrders } from '../../../support/test-program.ts';

const PAIR = { fromCurrency: 'BTC', toCurrency: 'EUR' };
const OLD = {
  creationDate: '2024-03-01T10:00:00Z',
  modificationDate: '2024-03-01T10:00:00Z',
  exchangeOperation: { currencyPair: PAIR, inputAsset: 7 },
};

it('tells the findings of orders that a person has decided from others, as the story of the order does', async () => {
  const { program, exchange, answers, lookUp } = await acceptedOrders(['given-up', 'ours', 'again', 'undecided']);
  const { store } = program.app;
  for (const id of ['given-up', 'ours', 'again', 'undecided']) answers.set(id, record(id, OLD));
  await lookUp();
  for (const id of ['given-up', 'ours']) answers.set(id, record(id, { ...OLD, fiat: 'PAID' }));
  await lookUp();
  const decide = async (externalOrderId: string, kind: 'abandoned' | 'ours' | 'not-created') => {
    const judgement: Judgement = kind === 'not-created' ? { kind, mayDuplicate: true } : { kind };
    const by = { actor: 'anna', reason: 'r' };
    await Array.fromAsync(decideOrders(program.app, [{ externalOrderId }], { judgement, ...by }));
  };
  exchange.answer = () => 'reset';
  program.insert({ external_order_id: 'unknown' }, { external_order_id: 'sent-again' });
  await createPass(program.app, new AbortController().signal);
  await decide('sent-again', 'not-created');
  for (const id of ['given-up', 'again']) await decide(id, 'abandoned');
  await decide('ours', 'ours');
  const read = async (status: 'open' | 'decided' | 'undecided', order?: string) => {
    const filter = order === undefined ? {} : { order: { id: order, isPrefix: false } };
    const { rows } = await listFindings(store.db, { account: 'default', status, limit: 100, ...filter });
    return rows;
  };
  const all = await read('open');
  for (const row of all) {
    const { events } = (await readStory(store, 'default', row.external_order_id!))!;
    expect([row.class, row.external_order_id, row.is_decided]).toEqual([
      row.class,
      row.external_order_id,
      isDecided(row, events),
    ]);
  }
  const namesOf = (rows: typeof all) => rows.map((row) => `${row.external_order_id} ${row.class}`);
  const decided = await read('decided');
  expect(namesOf(decided)).toEqual(
    expect.arrayContaining(['sent-again CREATE_UNKNOWN', 'given-up AMOUNT_MISMATCH', 'given-up SILENT_CHANGE']),
  );
  expect(namesOf(await read('undecided'))).toEqual(
    expect.arrayContaining([
      'unknown CREATE_UNKNOWN',
      'ours AMOUNT_MISMATCH',
      'ours SILENT_CHANGE',
      'undecided ID_COLLISION',
    ]),
  );
  expect([...namesOf(decided), ...namesOf(await read('undecided'))].toSorted()).toEqual(namesOf(all).toSorted());
  expect(await read('decided', 'ours')).toEqual(decided.filter((row) => row.external_order_id === 'ours'));
});
