import { endpointWaitMs } from '../../../src/extensions/webhooks/delivery.ts';
import { webhookSender } from '../../../src/extensions/webhooks/sender.ts';
import { testClock } from '../../support/test-clock.ts';
import { SECRET as SIGNING_SECRET } from '../../support/webhooks.ts';
import { broken, type Entry } from '../entry.ts';
import { oddHttpAnswer, type OddHttpAnswer } from '../odd-http.ts';
import { rawServer } from './wire.ts';

/** The answers of receivers of webhooks: each event is taken, or sent again later. */
export const receivers: Entry<OddHttpAnswer> = {
  name: 'receivers',
  inputs: oddHttpAnswer(['', 'ok', '{}']),
  async open() {
    await using undo = new AsyncDisposableStack();
    const raw = undo.use(await rawServer());
    const url = `${raw.url}/events`;
    const endpoint = { name: 'shop', url, secrets: [SIGNING_SECRET], events: [], allowPrivate: true };
    const sender = undo.use(webhookSender({ endpoint, clock: testClock(), timeoutMs: 300 }));
    const disposal = undo.move();
    return {
      async give(input) {
        raw.answer = input;
        const outcome = await sender.send({ id: 'evt_1' });
        if (
          outcome.kind === 'taken' &&
          !/^HTTP\/1\.[01] +2\d\d/.test(input.bytes.replace(/^[\r\n]*(HTTP\/1\.1 1\d\d[^]*?\r?\n\r?\n)*/, ''))
        ) {
          broken('an event counts as taken without an answer of 2xx');
        }
        if (outcome.kind !== 'unavailable') return;
        const waitMs = endpointWaitMs(1, outcome.retryAfterMs);
        if (!(waitMs > 0 && waitMs <= 3_600_000)) broken(`it is asked again after ${waitMs} ms`);
        if (/\p{Cc}/u.test(outcome.cause)) broken(`the cause has control characters: ${JSON.stringify(outcome.cause)}`);
      },
      [Symbol.asyncDispose]: () => disposal.disposeAsync(),
    };
  },
};
