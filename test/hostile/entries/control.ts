import { serveApi } from '../../../src/extensions/api/door/server.ts';
import { serveControl } from '../../../src/extensions/api/server.ts';
import { controlSocketPath } from '../../../src/extensions/api/asking/transport.ts';
import { served } from '../../support/control-socket.ts';
import { testClock } from '../../support/test-clock.ts';
import { apiSettingsIn } from '../../support/served-api.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground, sandbox, SECRET } from '../ground.ts';
import { answerTo, checkAnswer, checkHealth, oddRequest, type Route } from '../odd-requests.ts';

const ORDER = { external_order_id: 'x', asset: '1.5', from_currency: 'BTC', to_currency: 'EUR', bonus: null };
const ROUTES: readonly Route[] = [
  { method: 'POST', path: '/clients', body: { email: 'a@b.example', reference: 'r' } },
  { method: 'POST', path: '/clients/validate', body: { email: 'a@b.example' } },
  { method: 'GET', path: '/clients/:linkId' },
  { method: 'POST', path: '/clients/:linkId/follow', body: { reference: 'r' } },
  { method: 'GET', path: '/clients/:linkId/idv/:level' },
  { method: 'POST', path: '/clients/:linkId/idv/photos', body: { level: 'LIVENESS', actionId: 'a' } },
  { method: 'GET', path: '/clients/:linkId/customer' },
  { method: 'GET', path: '/clients/:linkId/cards' },
  { method: 'POST', path: '/clients/:linkId/sdk-token', body: {} },
  { method: 'POST', path: '/orders', body: ORDER },
  { method: 'POST', path: '/orders/adopt', body: ORDER },
  { method: 'GET', path: '/orders/:externalOrderId' },
  { method: 'GET', path: '/orders/:externalOrderId/explanation' },
  { method: 'POST', path: '/orders/:externalOrderId/resolve', body: { as: 'exists', preOrderId: 'p', reason: 'r' } },
  { method: 'POST', path: '/orders/:externalOrderId/retry', body: { mayDuplicate: true, reason: 'r' } },
  { method: 'POST', path: '/orders/:externalOrderId/cancel', body: { reason: 'r' } },
  { method: 'GET', path: '/merchant-orders', query: ['state', 'after', 'limit'] },
  { method: 'GET', path: '/findings', query: ['class', 'status', 'order', 'after', 'limit'] },
  { method: 'POST', path: '/findings/:id/acknowledge', body: { reason: 'r' } },
  { method: 'POST', path: '/pause', body: { what: 'creates', reason: 'r' } },
  { method: 'POST', path: '/resume', body: { reason: 'r' } },
  { method: 'GET', path: '/orders', query: ['externalOrderId'] },
  { method: 'GET', path: '/pre-orders/:id' },
  { method: 'GET', path: '/events', query: ['after', 'limit', 'type', 'order', 'follow'] },
  { method: 'GET', path: '/links', query: ['status', 'limit', 'reference'] },
  { method: 'GET', path: '/status' },
  { method: 'POST', path: '/sync', query: ['scope', 'timeoutMs'], body: {} },
];
const TOKEN = `${SECRET}-of-the-api`;
const HEADERS = ['host: localhost', 'connection: close', `authorization: Bearer ${TOKEN}`] as const;
const HEALTH = ['GET /status HTTP/1.1', ...HEADERS, '', ''].join('\r\n');

/** Requests to the control socket and to the API, HTTP or not. */
export const control: Entry<string> = {
  name: 'control',
  inputs: oddRequest(ROUTES, HEADERS),
  inputsAProgram: 500,
  async open() {
    await using undo = new AsyncDisposableStack();
    const clock = testClock(BEGINNING);
    const on = undo.use(await ground({ clock, answer: sandbox(clock).answer }));
    const path = controlSocketPath(on.path);
    const stopping = new AbortController();
    const serving = served(on.app, on.activities);
    const socket = await serveControl(serving, path, stopping.signal);
    const settings = apiSettingsIn(on.folder, [{ secret: TOKEN }]);
    const api = await serveApi(serving, settings, stopping.signal);
    const port = Number(new URL(api.url ?? '').port);
    undo.defer(async () => {
      stopping.abort();
      on.app.endGracePeriod();
      await Promise.all([socket.close(), api.close()]);
    });
    const disposal = undo.move();
    return {
      async give(bytes) {
        checkAnswer(await answerTo({ path }, bytes));
        await checkHealth({ path }, HEALTH);
        const answer = await answerTo({ port }, bytes);
        checkAnswer(answer);
        if (/^HTTP\/1.1 2/.test(answer) && !bytes.includes(TOKEN))
          broken(`it was answered without a token: ${answer.slice(0, 200)}`);
        await checkHealth({ port }, HEALTH);
      },
      [Symbol.asyncDispose]: () => disposal.disposeAsync(),
    };
  },
};
