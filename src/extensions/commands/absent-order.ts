import { otherAccounts, accountWithOrder } from './tables/accounts.ts';
import type { AccountSettings } from '../../settings/config.ts';
import type { Database } from '../../store/port.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { DEFAULT_ACCOUNT } from '../../accounts/rules/name.ts';
import { OTHER_ACCOUNTS_REMEDY } from './problem.ts';
import { quote, shellWord } from '../../base/text.ts';

const MOST_ACCOUNTS = 100;

export async function absentOrder(
  db: Database,
  { account, accounts }: Pick<AccountSettings, 'account' | 'accounts'>,
  externalOrderId: string,
): Promise<CommandError> {
  const named = accounts.map(({ name }) => name);
  const others = named.filter((name) => name !== account);
  const place = others.length === 0 && account === DEFAULT_ACCOUNT ? 'table' : `account ${account}`;
  const other = await accountWithOrder(db, others.slice(0, MOST_ACCOUNTS), externalOrderId);
  const unnamed =
    other === undefined ? await accountWithOrder(db, await otherAccounts(db, named), externalOrderId) : undefined;
  const id = JSON.stringify(externalOrderId);
  if (unnamed !== undefined) {
    const text = `the order ${id} is in the account ${quote(unnamed)}, which is not in the settings, so it is neither sent nor followed`;
    return new CommandError(EXIT.absent, `${text}: ${OTHER_ACCOUNTS_REMEDY}`);
  }
  // Printed commands use these words as placeholders. If an order has one of them as its id, no advice is needed.
  const isPlaceholder = ['ORDER', 'ID', 'EXTERNAL_ORDER_ID'].includes(externalOrderId);
  const placeholder = isPlaceholder ? `; write an external order id in place of ${externalOrderId}` : '';
  const advice = other === undefined ? placeholder : `; account ${other} has it: use --account ${shellWord(other)}`;
  return new CommandError(EXIT.absent, `there is no order ${id} in the ${place}${advice}`);
}
