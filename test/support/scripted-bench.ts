import { onTestFinished } from 'vitest';
import { createPass } from '../../src/flows/orders/create.ts';
import { followPass } from '../../src/flows/orders/follow.ts';
import { echo, NOT_FOUND, scriptedExchange, type ScriptedAnswer, type ScriptedExchange } from './scripted-exchange.ts';
import { workbench, type Workbench, type WorkbenchOptions } from './workbench.ts';

/** A workbench whose exchange the test scripts; both are gone when the test is finished. */
export async function scriptedBench(
  options: WorkbenchOptions = {},
): Promise<{ bench: Workbench; exchange: ScriptedExchange }> {
  const exchange = await scriptedExchange();
  onTestFinished(() => exchange[Symbol.asyncDispose]());
  const environment = { ORDER_SYNC_EXCHANGE_BASE_URL: exchange.url, ...options.environment };
  const bench = await workbench({ ...options, environment });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  return { bench, exchange };
}

/** Orders that were accepted, and an exchange whose answers to look-ups the test sets, by id. */
export async function acceptedOrders(ids: readonly string[], options: WorkbenchOptions = {}) {
  const { bench, exchange } = await scriptedBench(options);
  const { signal } = new AbortController();
  const answers = new Map<string, ScriptedAnswer>();
  exchange.answer = (request) =>
    request.method === 'POST' ? echo(request) : (answers.get(request.externalOrderId) ?? NOT_FOUND);
  bench.insert(...ids.map((external_order_id) => ({ external_order_id })));
  await createPass(bench.app, signal);
  return {
    bench,
    exchange,
    answers,
    /** Looks every order up that is followed, `afterMs` from now. */
    lookUp: async (afterMs: number) => {
      bench.clock.advance(afterMs);
      await followPass(bench.app, 'all', signal);
    },
  };
}
