import type { Command } from 'commander';
import type { App } from '../../app.ts';
import { systemClock } from '../../clock.ts';
import { pathId, UnusableIdError } from '../../exchange/ids.ts';
import {
  askPreOrders,
  recordPreOrderFindings,
  type AskedPreOrders,
  type PreOrderAnswer,
} from '../../flows/reports/pre-orders.ts';
import type { Outcome } from '../../http/control/answer.ts';
import type { ReportScope } from '../../store/reports/reconciliation.ts';
import { CommandError, EXIT } from '../exit.ts';
import { ACCOUNT, exchangeConfig, withStore } from '../options.ts';
import { throughOwner } from '../owner.ts';
import type { Progress } from './progress.ts';

/** Asks the exchange for every pre-order of the scope (§4.10), through the owner or as the owner, and writes down what is missing or differs. */
export async function askExchange(
  program: Command,
  path: string,
  scope: ReportScope,
  progress: Progress,
): Promise<AskedPreOrders> {
  const show = (asked: number) => void progress.show(`${asked} pre-orders asked for`);
  const askAll = async (ask: (preOrderId: string) => Promise<Outcome>) =>
    await askPreOrders(path, scope, async (preOrderId) => await answerTo(preOrderId, ask), show);
  const asked = await throughOwner<AskedPreOrders>(
    exchangeConfig(program),
    (owner) => askAll((preOrderId) => owner.ask({ method: 'GET', path: `/pre-orders/${pathId(preOrderId)}` })),
    (app: App) => askAll((preOrderId) => app.exchange.showPreOrder(preOrderId)),
  );
  await withStore(program, 'current', async (store) => {
    await recordPreOrderFindings(store, ACCOUNT, asked, systemClock().now());
  });
  return asked;
}

async function answerTo(preOrderId: string, ask: (preOrderId: string) => Promise<Outcome>): Promise<PreOrderAnswer> {
  try {
    const outcome = await ask(preOrderId);
    if (outcome.kind === 'key-refused') {
      throw new CommandError(EXIT.keyRefused, 'the exchange refuses the key (401); check exchange.apiKey');
    }
    if (outcome.kind === 'ok') return { kind: 'known', body: outcome.body };
    return { kind: outcome.kind === 'refused' && outcome.httpStatus === 404 ? 'missing' : 'unanswered' };
  } catch (error) {
    // An id that cannot stand in a path cannot be asked for.
    if (error instanceof UnusableIdError) return { kind: 'unanswered' };
    throw error;
  }
}
