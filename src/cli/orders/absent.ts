import type { AccountSettings } from '../../config/config.ts';
import { DEFAULT_ACCOUNT } from '../../domain/accounts/name.ts';
import { shellWord } from '../../domain/text.ts';
import { accountWithOrder } from '../../store/orders.ts';
import type { Database } from '../../store/port.ts';
import { CommandError, EXIT } from '../shared/exit.ts';

/** Accounts of the settings in which an id is looked for. */
const MOST_ACCOUNTS = 100;

/** The error of a command about an order that is not there. Names another account of the settings that has the id. */
export async function absentOrder(
  db: Database,
  { account, accounts }: Pick<AccountSettings, 'account' | 'accounts'>,
  externalOrderId: string,
): Promise<CommandError> {
  const others = accounts.map(({ name }) => name).filter((name) => name !== account);
  const isAlone = others.length === 0 && account === DEFAULT_ACCOUNT;
  const absent = `there is no order ${JSON.stringify(externalOrderId)} in the ${isAlone ? 'table' : `account ${account}`}`;
  const other = await accountWithOrder(db, others.slice(0, MOST_ACCOUNTS), externalOrderId);
  const advice = other === undefined ? '' : `; ${other} has one: --account ${shellWord(other)}`;
  return new CommandError(EXIT.absent, absent + advice);
}
