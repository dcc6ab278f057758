import { partsWith } from '../test/support/parts.ts';
import { createApp } from '../src/app.ts';
import { systemClock } from '../src/base/clock.ts';
import { Activities } from '../src/extensions/health/activity.ts';
import { loadConfig } from '../test/support/settings.ts';
import { createPass } from '../src/orders/create.ts';
import { followPass } from '../src/orders/follow.ts';
import { serve } from './child.ts';
import { timed, type Round } from './round.ts';
import { settingsFor } from './settings.ts';

/** The whole engine as the daemon wires it, durable, its log in a file. */
const [url = '', database = ''] = process.argv.slice(2);
// Each round looks up the orders of its own batch.
const standbys = process.env['ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS'];
const env = {
  ...settingsFor(url, database),
  ORDER_SYNC_FOLLOW_RECHECK_FINAL_AFTER: '',
  ...(standbys === undefined ? {} : { ORDER_SYNC_DATABASE_SYNCHRONOUS_STANDBYS: standbys }),
};
const config = loadConfig({ requireExchange: true, cwd: process.cwd(), env });
// The clock of the sandbox, or every order would have a finding about the clocks.
const clock = systemClock();
let aheadMs = 0;
const now = () => new Date(clock.now().getTime() + aheadMs);
let commits = 0;
const app = await createApp(config, {
  clock: { ...clock, now },
  ...partsWith(new Activities(clock)),
  store: {
    expect: 'migrate',
    wrap(sql, statement) {
      if (sql !== 'commit') return statement;
      const run = statement.run.bind(statement);
      return Object.assign(statement, {
        run: (parameters: readonly unknown[]) => {
          commits += 1;
          return run(parameters);
        },
      });
    },
  },
});
const { signal } = new AbortController();
process.once('SIGTERM', () => {
  void app[Symbol.asyncDispose]().then(() => process.exit(0));
});

serve<Round>({}, async ({ kind, count, aheadMs: ahead }) => {
  aheadMs = ahead;
  const before = { ...app.observers.counters };
  commits = 0;
  const took = await timed(() => (kind === 'create' ? createPass(app, signal) : followPass(app, 'all', signal)));
  const { accepted, lookedUp, findings, failed } = app.observers.counters;
  const done = kind === 'create' ? accepted - before.accepted : lookedUp - before.lookedUp;
  if (done !== count || findings > 0 || failed > 0) {
    throw new Error(`${kind}: ${done} of ${count} orders, ${findings} findings, ${failed} failed`);
  }
  return { ...took, commits };
});
