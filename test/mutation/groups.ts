/** Files whose mutants are tried together, and the tests that are to kill them: of those that are about them, the fast ones. */
export interface Group {
  readonly name: string;
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

/**
 * What decides about money and about what is sent: all decisions, the gate, and of the store what makes a write safe: the
 * conditions under which an order, a hold or a mark is written, and the writer that lets nobody write beside it. Owners and
 * generations are one statement each, which is tried on PostgreSQL.
 */
export const GROUPS: readonly Group[] = [
  {
    name: 'domain',
    files: ['src/domain/*.ts'],
    tests: [
      'test/domain/*.test.ts',
      'test/domain/orders/{disputes,follow,record-change}.test.ts',
      'test/domain/findings/*.test.ts',
    ],
  },
  {
    name: 'orders',
    files: ['src/domain/orders/*.ts'],
    tests: [
      'test/domain/orders/{check,create,disputes,follow,found,no-answer,operator-decisions,ours,record-change,schedule,states,tracking}.test.ts',
    ],
  },
  {
    name: 'pace',
    files: ['src/domain/orders/pace/*.ts'],
    tests: ['test/domain/orders/pace/{history,learned-status,pace,status,stay-times}.test.ts'],
  },
  { name: 'findings', files: ['src/domain/findings/*.ts'], tests: ['test/domain/findings/*.test.ts'] },
  { name: 'accounts', files: ['src/domain/accounts/*.ts'], tests: ['test/domain/accounts/*.test.ts'] },
  { name: 'clients', files: ['src/domain/clients/*.ts'], tests: ['test/domain/clients/*.test.ts'] },
  { name: 'events', files: ['src/domain/events/*.ts'], tests: ['test/domain/events/*.test.ts'] },
  {
    name: 'gate',
    files: ['src/exchange/{gate,rate-window,breaker}.ts'],
    tests: ['test/exchange/{breaker,gate,gate-view,paced,rate-spacing,rate-window,shared-window}.test.ts'],
  },
  {
    name: 'store',
    files: ['src/store/{group-writer,mark,moves,order-columns,orders,wrong-due-times}.ts'],
    tests: [
      'test/store/{group-writer,mark,moves,order-columns,orders,wrong-due-times}.test.ts',
      'test/store/sqlite/contract.test.ts',
    ],
  },
];
