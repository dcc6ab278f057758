import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../../src/base/clock.ts';
import { Activities } from '../../../../src/extensions/health/activity.ts';
import { sendHeartbeats } from '../../../../src/extensions/health/ops/readiness.ts';
import { MINUTE } from '../../../support/tracking.ts';
import { testProgram } from '../../../support/test-program.ts';
import { withSettings } from '../../../support/settings.ts';

const STEP_MS = 100;

/** A program whose heartbeats arrive at a server, which answers as the test says. */
async function beating(isInPlace = (): boolean => true) {
  const on = { answer: (response: ServerResponse) => void response.writeHead(200).end(), calls: [] as string[] };
  const server = createServer((request, response) => {
    on.calls.push(`${request.method} ${request.url}`);
    on.answer(response);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const program = await testProgram();
  const { app, clock, config, log } = program;
  const stop = new AbortController();
  const ended = sendHeartbeats(
    {
      ...app,
      config: withSettings(config, { ops: { heartbeatUrl: `http://127.0.0.1:${port}/canary?status=up` } }),
      store: { ...app.store, isInPlace },
      accounts: { names: [app.account] },
      activities: new Activities(clock),
    },
    stop.signal,
  );
  onTestFinished(async () => {
    stop.abort();
    await ended;
    server.closeAllConnections();
    server.close();
  });
  /** Lets time pass until something holds, or for so long. */
  const pass = async (isOver: () => boolean, ms = Number.POSITIVE_INFINITY) => {
    for (let passed = 0; passed < ms && !isOver(); passed += STEP_MS) {
      clock.advance(STEP_MS);
      await systemClock().turn();
    }
  };
  return { on, clock, log, pass, stop, ended };
}

describe('the heartbeat', () => {
  it('is called once a minute while the daemon is ready, and not while it is not', async () => {
    let isInPlace = true;
    const { on, clock, pass } = await beating(() => isInPlace);
    await pass(() => on.calls.length === 1);
    const first = clock.now().getTime();
    await pass(() => on.calls.length === 2);
    expect(on.calls).toEqual(['GET /canary?status=up', 'GET /canary?status=up']);
    expect(clock.now().getTime() - first).toBeGreaterThanOrEqual(MINUTE);
    isInPlace = false;
    await pass(() => false, 3 * MINUTE);
    expect(on.calls).toHaveLength(2);
  });

  it('says once that it is not answered, without the address, and that it is again; it follows no redirect', async () => {
    const { on, log, pass } = await beating();
    on.answer = (response) => void response.writeHead(302, { location: '/canary-elsewhere' }).end();
    await pass(() => on.calls.length === 3);
    on.answer = (response) => void response.writeHead(204).end();
    await pass(() => log.with(/heartbeat is answered again/).length > 0);
    expect(on.calls).toHaveLength(4);
    expect(log.with(/heartbeat is not answered/)).toMatchObject([{ cause: 'HTTP 302' }]);
    expect(log.with(/heartbeat is answered again/)).toMatchObject([{ failures: 3 }]);
    expect(JSON.stringify(log.lines)).not.toContain('canary');
  });

  it('ends while an answer does not come', async () => {
    const { on, pass, stop, ended } = await beating();
    on.answer = () => {};
    await pass(() => on.calls.length === 1);
    expect(on.calls).toHaveLength(1);
    stop.abort();
    await ended;
  });
});
