import type { PlantedBug } from '../bug.ts';

const ACCOUNTS = 'src/accounts/accounts.ts';
const WAITS = /no account waits for another|a hold is of its account alone/;

/** Bugs in what several accounts of one database have to do with each other: nothing, but for a limit that they share. */
export const ACCOUNT_BUGS: readonly PlantedBug[] = [
  {
    name: 'pause-of-one-holds-all',
    text: 'each account reads the holds of all accounts',
    breaks: WAITS,
    edits: [
      {
        file: 'src/store/tables/account-holds.ts',
        in: 'holdsStatement',
        from: ".where('account', '=', textToFind(v.account))",
        to: '',
      },
    ],
  },
  {
    name: 'key-of-another-account',
    text: 'an account is driven with the general settings in place of its own',
    breaks: /requests bear the key of their account/,
    edits: [
      {
        file: ACCOUNTS,
        in: 'Accounts.#wire',
        from: 'requireExchange(configOf(config, account))',
        to: 'requireExchange(config)',
      },
    ],
  },
  {
    name: 'failure-of-one-ends-all',
    text: 'an account that cannot continue ends the process',
    breaks: /no bug/,
    edits: [
      {
        file: 'src/accounts/failures.ts',
        in: 'concernsAllAccounts',
        from: "return config.database.kind === 'sqlite' && isOfFile;",
        to: "return config.database.kind === 'sqlite' || isOfFile;",
      },
    ],
  },
  {
    name: 'shared-limit-is-of-each',
    text: 'accounts that share a limit have it each for itself',
    breaks: /rate kept/,
    edits: [
      {
        file: ACCOUNTS,
        in: 'Accounts.#wire',
        from: 'rateGroup: this.#rateGroupOf(account)',
        to: 'rateGroup: undefined',
      },
    ],
  },
  {
    name: 'orders-are-saved-without-their-account',
    text: 'a decision about an order is written to the orders of all accounts that have its id',
    breaks: /row equals last event|the chain is whole|statuses verbatim/,
    edits: [
      {
        file: 'src/store/orders/orders.ts',
        in: 'savingStatement',
        from: 'order.and({ account: v.account, external_order_id: v.externalOrderId })',
        to: 'order.and({ external_order_id: v.externalOrderId })',
      },
    ],
  },
  {
    name: 'chain-goes-on-from-another-account',
    text: 'in a transaction of several accounts, each continues the chain of the first',
    breaks: /the chain is whole|counts equal the rows/,
    edits: [
      {
        file: 'src/store/tables/chain.ts',
        in: 'headOf',
        from: 'tx.heads?.get(account) ??',
        to: '[...(tx.heads?.values() ?? [])][0] ??',
      },
    ],
  },
  {
    name: 'one-due-account-is-woken',
    text: 'only the first of several accounts in which something is due is woken',
    breaks: WAITS,
    edits: [
      {
        file: 'src/accounts/due-accounts.ts',
        in: 'DueAccounts.#wake',
        from: 'of due)',
        to: 'of due.slice(0, 1))',
      },
      { file: 'src/accounts/due-accounts.ts', in: 'DueAccounts.readNext', from: 'await this.read(slice);', to: '' },
    ],
  },
];
