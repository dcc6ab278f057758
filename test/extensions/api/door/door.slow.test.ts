import { connect } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { rawClient } from '../../../support/raw-client.ts';
import { secretOf, servedApi } from '../../../support/served-api.ts';

it('cuts who sends nothing, half a head or half a body, with or without TLS', async () => {
  const [plain, tls] = [await servedApi(), await servedApi({ isTls: true })];
  const head = `POST /orders HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${secretOf('shop')}\r\n`;
  const answers = ['', head, `${head}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`].map((said) => {
    const client = rawClient(plain.url);
    client.send(said);
    return client.closed;
  });
  const silent = connect(Number(tls.to.port), '127.0.0.1').on('error', () => {});
  const cut = once(silent, 'close');
  expect((await plain.ask('GET', '/status')).status).toBe(200);
  for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  await cut;
}, 60_000);
