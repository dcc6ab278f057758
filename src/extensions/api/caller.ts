/** The scopes of tokens: `orders` adds orders and cancels unsent ones, `decide` makes the decisions of a person. */
export const SCOPES = ['read', 'orders', 'clients', 'decide'] as const;
export type Scope = (typeof SCOPES)[number];

/** The program or person that asks. A user who may open the control socket may ask for everything. */
export interface Caller {
  /** The name of the caller's token. Decisions are recorded under this name. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly accounts: readonly string[] | 'all';
}

export const SOCKET_CALLER: Caller = { name: 'control socket', scopes: SCOPES, accounts: 'all' };
