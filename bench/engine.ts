import { createApp } from '../src/app.ts';
import { loadConfig } from '../src/config.ts';
import { createPass } from '../src/flows/create.ts';
import { followPass } from '../src/flows/follow.ts';
import { serve } from './child.ts';
import { insertOrders } from './orders.ts';
import { CONCURRENCY, timed, type Round } from './round.ts';

/** The whole engine as the daemon wires it, durable, its log in a file; the rate limit does not bind. */
const [url = '', key = '', path = ''] = process.argv.slice(2);
const config = loadConfig({
  requireExchange: true,
  cwd: process.cwd(),
  env: {
    ORDER_SYNC_CONFIG: '/dev/null',
    ORDER_SYNC_EXCHANGE_BASE_URL: url,
    ORDER_SYNC_EXCHANGE_API_KEY: key,
    ORDER_SYNC_EXCHANGE_CONCURRENCY: String(CONCURRENCY),
    ORDER_SYNC_EXCHANGE_RATE_REQUESTS: '1000000',
    ORDER_SYNC_DATABASE_URL: `sqlite:${path}`,
  },
});
const app = await createApp(config);
const { signal } = new AbortController();
process.once('SIGTERM', () => {
  void app[Symbol.asyncDispose]().then(() => process.exit(0));
});

serve<Round>({}, async ({ kind, batch, count }) => {
  if (kind === 'create') insertOrders(path, batch, count);
  const before = { ...app.tally.counts };
  const pass = () => (kind === 'create' ? createPass(app, signal) : followPass(app, 'all', signal));
  const took = await timed(pass);
  const { accepted, lookedUp, findings, failed } = app.tally.counts;
  const done = kind === 'create' ? accepted - before.accepted : lookedUp - before.lookedUp;
  if (done !== count || findings > 0 || failed > 0) {
    throw new Error(`${kind}: ${done} of ${count} orders, ${findings} findings, ${failed} failed`);
  }
  return took;
});
