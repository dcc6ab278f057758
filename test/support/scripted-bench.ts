import { onTestFinished } from 'vitest';
import { scriptedExchange, type ScriptedExchange } from './scripted-exchange.ts';
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
