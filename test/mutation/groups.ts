/** Files whose mutants are tried together, and the tests that must kill them: of the tests about them, the fast ones. */
export interface Group {
  readonly name: string;
  readonly files: readonly string[];
  readonly tests: readonly string[];
}

/**
 * The files that decide about money and about requests: all decisions, the gate, and of the store the parts that make a
 * write safe: the conditions under which an order, a hold or a mark is written, and the writer that lets no other write run
 * beside it. Owners and generations are one statement each, which is tried on PostgreSQL.
 */
export const GROUPS: readonly Group[] = [
  {
    name: 'base',
    files: ['src/base/{decimal,instant,text}.ts', 'src/orders/rules/{contradictions,record}.ts'],
    tests: [
      'test/base/{decimal,instant,text}.test.ts',
      'test/orders/rules/{contradictions,disputes,follow,record,record-change,record-fields}.test.ts',
      'test/findings/rules/*.test.ts',
    ],
  },
  {
    name: 'orders',
    files: ['src/orders/rules/{absent,check,create,follow,lookup,record-change,schedule,states,tracking}.ts'],
    tests: [
      'test/orders/rules/{check,create,disputes,follow,found,lookup,no-answer,record-change,schedule,states,tracking}.test.ts',
    ],
  },
  {
    name: 'pace',
    files: ['src/extensions/pace/{pace,status,stay-times}.ts', 'src/orders/pass/pace.ts'],
    tests: [
      'test/extensions/pace/{history,learned-status,pace,status,stay-times}.test.ts',
      'test/orders/pass/pace.test.ts',
    ],
  },
  {
    name: 'decisions',
    files: ['src/extensions/operate/rules/{decided,judgement}.ts'],
    tests: ['test/extensions/operate/rules/{decide-doubt,decided,judgement,ours}.test.ts'],
  },
  { name: 'findings', files: ['src/findings/rules/*.ts'], tests: ['test/findings/rules/*.test.ts'] },
  {
    name: 'accounts',
    files: [
      'src/accounts/rules/*.ts',
      'src/extensions/guard/create-window.ts',
      'src/extensions/health/incident-story.ts',
      'src/extensions/postgres/sharing/{heartbeats,share}.ts',
    ],
    tests: [
      'test/accounts/rules/*.test.ts',
      'test/extensions/guard/create-window.test.ts',
      'test/extensions/health/incident-story.test.ts',
      'test/extensions/postgres/sharing/{heartbeats,share}.test.ts',
    ],
  },
  {
    name: 'clients',
    files: ['src/extensions/clients/{link,photo}.ts'],
    tests: ['test/extensions/clients/{link,photo}.test.ts'],
  },
  {
    name: 'events',
    files: ['src/extensions/feed/event.ts', 'src/extensions/webhooks/delivery.ts'],
    tests: ['test/extensions/feed/{cursor,event}.test.ts', 'test/extensions/webhooks/delivery.test.ts'],
  },
  {
    name: 'gate',
    files: ['src/exchange/transport/{gate,rate-window,breaker}.ts'],
    tests: ['test/exchange/transport/{breaker,gate,gate-view,paced,rate-spacing,rate-window,shared-window}.test.ts'],
  },
  {
    name: 'store',
    files: [
      'src/store/{group-writer,mark}.ts',
      'src/store/tables/moves.ts',
      'src/store/orders/{order-columns,orders,wrong-due-times}.ts',
    ],
    tests: [
      'test/store/{group-writer,mark}.test.ts',
      'test/store/tables/moves.test.ts',
      'test/store/orders/{order-columns,orders,wrong-due-times}.test.ts',
      'test/store/sqlite/contract.test.ts',
    ],
  },
];
