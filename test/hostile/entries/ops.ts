import { type OpsDeps, serveOps } from '../../../src/extensions/health/ops/server.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { testClock } from '../../support/test-clock.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground, NEVER, sandbox, SECRET } from '../ground.ts';
import { answerTo, checkAnswer, checkHealth, oddRequest, type Route } from '../odd-requests.ts';
import { withSettings } from '../../support/settings.ts';

/** Stands in a request for the token of the forms of this process. */
const FORM_TOKEN = 'form-token-of-the-process';
const PERSON = { token: FORM_TOKEN, account: 'default', actor: 'a person', reason: 'because' };
const DECISION = { ...PERSON, externalOrderId: 'x', state: 'final', attempts: '1', judgement: 'ours' };

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/', query: ['range'] },
  { method: 'GET', path: '/livez' },
  { method: 'GET', path: '/readyz' },
  { method: 'GET', path: '/metrics' },
  { method: 'GET', path: '/orders', query: ['q'] },
  { method: 'GET', path: '/orders/:id' },
  { method: 'GET', path: '/events', query: ['after'] },
  { method: 'GET', path: '/pause' },
  { method: 'GET', path: '/dashboard.js' },
  { method: 'POST', path: '/actions/order', form: DECISION },
  { method: 'POST', path: '/actions/findings', form: { ...PERSON, externalOrderId: 'x', finding: '{"id":1}' } },
  { method: 'POST', path: '/actions/pause', form: { ...PERSON, kind: 'creates-paused' } },
  { method: 'POST', path: '/actions/resume', form: PERSON },
];
const HEADERS = [
  'host: localhost',
  'connection: close',
  `authorization: Bearer ${SECRET}`,
  'origin: http://localhost',
] as const;
const get = (path: string) => [`GET ${path} HTTP/1.1`, ...HEADERS, '', ''].join('\r\n');

/** Requests to the ops endpoint, with its token and without, HTTP or not. */
export const ops: Entry<string> = {
  name: 'ops',
  inputs: oddRequest(ROUTES, HEADERS),
  inputsAProgram: 500,
  async open() {
    await using undo = new AsyncDisposableStack();
    const clock = testClock(BEGINNING);
    const on = undo.use(await ground({ clock, answer: sandbox(clock).answer }));
    on.merchant.exec(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values ('x', '1.5', 'BTC', 'EUR')`,
    );
    await createPass(on.app, NEVER);
    clock.advance(60_000);
    await followPass(on.app, 'all', NEVER);
    const { app, activities } = on;
    const listen = { host: '127.0.0.1', port: 0 };
    const config = withSettings(on.config, { ops: { listen, token: SECRET, actions: 'on' } });
    const own = { config, activities, accounts: { names: [app.account] }, heedDecision: async () => {}, version: '0' };
    const stopping = new AbortController();
    const endpoint = await serveOps({ ...app, ...own } satisfies OpsDeps, stopping.signal);
    undo.defer(async () => {
      stopping.abort();
      app.endGracePeriod();
      await endpoint.close();
    });
    const to = { port: Number(new URL(endpoint.url ?? '').port) };
    const [, token = ''] =
      /name="token" value="([^"]+)"/.exec(await answerTo(to, get('/pause?account=default'), 30_000)) ?? [];
    if (token === '') throw new Error('there are no forms');
    const disposal = undo.move();
    return {
      async give(bytes) {
        const answer = await answerTo(to, bytes.replaceAll(FORM_TOKEN, token));
        checkAnswer(answer);
        const isOpen = bytes.includes(SECRET) || bytes.includes('asic ') || bytes.includes('/livez');
        if (/^HTTP\/1.1 [23]/.test(answer) && !isOpen)
          broken(`it was answered without the token: ${answer.slice(0, 200)}`);
        await checkHealth(to, get('/livez'));
      },
      [Symbol.asyncDispose]: () => disposal.disposeAsync(),
    };
  },
};
