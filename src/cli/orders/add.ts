import { Option, type Command } from 'commander';
import { addOrder } from '../../flows/orders/add.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { withAccount } from '../shared/store.ts';

/** The options and the columns that they fill. */
const OPTIONS = [
  ['--external-order-id <id>', 'external_order_id', 'order id in your system', true],
  ['--asset <decimal>', 'asset', 'amount, exact', true],
  ['--from <currency>', 'from_currency', 'currency given', true],
  ['--to <currency>', 'to_currency', 'currency taken', true],
  ['--asset-position <position>', 'asset_position', 'INPUT unless given', false],
  ['--order-type <type>', 'order_type', 'DEPOSIT unless given', false],
  ['--order-limit <decimal>', 'order_limit', 'limit of the pre-order', false],
  ['--payment-token <token>', 'payment_token', 'payment token of the pre-order; the process list shows it', false],
  ['--provider-type <type>', 'provider_type', 'provider type of the pre-order', false],
  ['--crypto-address <address>', 'crypto_address', 'crypto address of the pre-order', false],
  ['--bonus <decimal>', 'bonus', 'bonus of the pre-order', false],
] as const;

/** `order-sync orders add`. */
export function define(command: Command): void {
  for (const [flags, column, text, isRequired] of OPTIONS) {
    const option = new Option(flags, text).makeOptionMandatory(isRequired);
    option.attributeName = () => column;
    command.addOption(option);
  }
  command
    .addHelpText(
      'after',
      '\nExample:\n  order-sync orders add --external-order-id shop-1001 --asset 0.25 \\\n    --from BTC --to EUR',
    )
    .action(async ({ account: _account, ...fields }: Record<string, string>) => {
      const addition = await withAccount(command, 'migrate', (store, { account }) =>
        addOrder({ store, account }, fields),
      );
      if (addition.kind === 'invalid') {
        throw new CommandError(EXIT.data, `${addition.problems.join('; ')}; nothing was inserted`);
      }
      const id = JSON.stringify(addition.externalOrderId);
      if (addition.kind === 'differs') {
        const columns = addition.columns.join(', ');
        throw new CommandError(EXIT.data, `${id} stands in the table with another ${columns}; nothing was inserted`);
      }
      const isNew = addition.kind === 'inserted';
      process.stdout.write(isNew ? `${id} is inserted\n` : `${id} is there already, with this content\n`);
    });
}
