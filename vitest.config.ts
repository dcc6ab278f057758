import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { fastFolder, postgresOfTests } from './test/support/postgres-server.ts';

/** What takes long, the longest first: begun last, it would run on alone at the end. */
const LONGEST = [
  'test/canary',
  'cli/sync',
  'in-browser',
  'orders/outages',
  'sandbox/demo/demo',
  'postgres/daemon/workers',
  'daemon/pm2',
  'daemon/daemon',
  'webhooks/docs',
  'simulation/',
  'daemon/',
  '.slow.test.ts',
  'orders/',
  'extensions/clients/commands/clients',
  'findings/tampering',
  'extensions/reports/commands',
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.includes(name));
      return index < 0 ? LONGEST.length : index;
    };
    return files.toSorted((one, other) => rank(one) - rank(other) || one.moduleId.localeCompare(other.moduleId));
  }
}

/** What runs on both dialects, but for the files that are about one of them. */
const ON_BOTH = [
  'test/cli/accounts.test.ts',
  'test/store/{,orders/,tables/}*.test.ts',
  'test/orders/{,pass/}*.test.ts',
  'test/findings/*.test.ts',
  'test/extensions/api/keyed/*.test.ts',
  'test/extensions/{clients,health,operate,pace,reports,webhooks}/tables/*.test.ts',
  'test/extensions/clients/{links,links-pass,photos}.test.ts',
  'test/extensions/feed/{,tables/}{events,feed,reading}.test.ts',
  'test/extensions/health/{activity,incidents}.test.ts',
  'test/extensions/health/{dashboard/dashboard,dashboard/dashboard-actions,dashboard/lists,ops/metrics,ops/readiness}.test.ts',
  'test/extensions/intake/{import,retention}.test.ts',
  'test/extensions/pace/{explain,follow-pace,learn-pace}.test.ts',
  'test/extensions/reports/reconciliation/{month,period,pre-orders,reconciliation,verdict}.test.ts',
  'test/extensions/reports/story/read-story.test.ts',
  'test/extensions/webhooks/{restart,sender,turn,waiting,webhooks}.test.ts',
];
const OF_SQLITE = [
  // They look at the plans of SQLite, let its disk be full, and put back copies of its file.
  'test/store/plans.test.ts',
  'test/orders/disk.test.ts',
  'test/extensions/restore/restore.test.ts',
  // Its steps count turns of the event loop, in which a server on the network does not answer.
  'test/orders/outages.slow.test.ts',
  // They live through hours and days of decisions that read no SQL of their own, and took 44 % of the time on PostgreSQL.
  'test/orders/pass/restraints.test.ts',
  'test/orders/{absence,clock-watch,odd-answers,other-ids,outage-ends,outcomes}.test.ts',
  'test/findings/{judge-answer.test,tampering.property.slow.test}.ts',
  'test/extensions/health/incidents.test.ts',
];
/** Tests that start processes or live through days: `npm run check` runs them, `npm test` does not. */
const SLOW = ['test/**/*.slow.test.ts'];
const OF_POSTGRES = [
  'test/extensions/postgres/*.test.ts',
  'test/extensions/postgres/{hosts,marks,move}/*.test.ts',
  'test/extensions/postgres/sharing/{notices,ownership,promotion,wakes}.test.ts',
];
/** What runs where no server is found: PGlite takes seconds for each test. */
const ON_PGLITE = ['test/extensions/postgres/{contract,dialect,guards,schema}.test.ts'];

// No test takes the power away: their files may lie in memory.
process.env['TMPDIR'] ??= fastFolder();

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'sqlite',
          include: ['test/**/*.test.ts'],
          exclude: [...OF_POSTGRES, ...SLOW],
          provide: { dialect: 'sqlite' },
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          provide: { dialect: 'sqlite' },
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: postgresOfTests() === undefined ? ON_PGLITE : [...ON_BOTH, ...OF_POSTGRES],
          exclude: OF_SQLITE,
          provide: { dialect: 'postgres' },
        },
      },
    ],
    globalSetup: 'test/support/postgres-setup.ts',
    pool: 'forks',
    // Young objects of tests die young: more room for them halves the work of the collector.
    execArgv: ['--max-semi-space-size=32'],
    // More than the smallest machine has cores: most files wait for processes.
    maxWorkers: 4,
    // A worker imports the program once, not once a file: what a file changes of the process it puts back.
    isolate: false,
    unstubEnvs: true,
    sequence: { sequencer: LongestFirst },
    // Far above what any test takes: a test fails by what it sees, never by the speed of the machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    restoreMocks: true,
  },
});
