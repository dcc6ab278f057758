import type { Command } from 'commander';
import { systemClock } from '../../clock.ts';
import { UnusableIdError } from '../../exchange/ids.ts';
import {
  askPreOrders,
  recordPreOrderFindings,
  type AskedPreOrders,
  type PreOrderAnswer,
} from '../../flows/reports/pre-orders.ts';
import type { Store } from '../../store/port.ts';
import type { ReportScope } from '../../store/reports/reconciliation.ts';
import { withExchange, type Ask } from '../shared/exchange.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { ACCOUNT } from '../shared/options.ts';
import type { Progress } from './progress.ts';

/** Asks the exchange for every pre-order of the scope (§4.10), and records the ones that are missing or differ as findings. */
export async function askExchange(
  command: Command,
  store: Store,
  scope: ReportScope,
  progress: Progress,
): Promise<AskedPreOrders> {
  const show = (asked: number) => void progress.show(`${asked} pre-orders asked for`);
  const asked = await withExchange(command, (ask) =>
    askPreOrders(store, scope, (preOrderId) => answerFor(preOrderId, ask), show),
  );
  await recordPreOrderFindings(store, ACCOUNT, asked, systemClock().now());
  return asked;
}

async function answerFor(preOrderId: string, ask: Ask): Promise<PreOrderAnswer> {
  try {
    const result = await ask('showPreOrder', { id: preOrderId });
    if (result.kind === 'key-refused') {
      throw new CommandError(EXIT.keyRefused, 'the exchange refuses the key (401); check exchange.apiKey');
    }
    if (result.kind === 'ok') return { kind: 'known', body: result.body };
    return { kind: result.kind === 'refused' && result.httpStatus === 404 ? 'missing' : 'unanswered' };
  } catch (error) {
    // An id that cannot stand in a path cannot be asked for.
    if (error instanceof UnusableIdError) return { kind: 'unanswered' };
    throw error;
  }
}
