import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import type { Clock } from '../../clock.ts';
import type { SandboxAnswer } from '../api/answer.ts';
import type { Fault } from './faults.ts';

/** The delay of a slow answer: well within the default timeout. */
export const SLOW_MS = 3_000;
/** The pause between two bytes of a dripping answer: it ends after every timeout. */
export const DRIP_MS = 1_000;

/** Sends the answer with its fault; the answer is undefined where the exchange was not asked. */
export async function answerWith(
  reply: FastifyReply,
  answer: SandboxAnswer | undefined,
  fault: Fault | undefined,
  clock: Clock,
): Promise<FastifyReply> {
  const { status = 500, headers = {}, body = '' } = answer ?? {};
  switch (fault) {
    case undefined:
      return await reply.code(status).headers(headers).send(body);
    case 'error-taken':
    case 'error-not-taken':
      return await reply.code(502).type('text/plain').send('bad gateway');
    case 'wrong-json':
      return await reply.code(200).type('application/json').send('{"answer":42}');
    case 'html':
      return await reply.code(200).type('text/html').send('<html><body>maintenance</body></html>');
    case 'redirect':
      return await reply.code(307).header('location', '/elsewhere').send();
    case 'rate-limited':
      return await reply.code(429).header('retry-after', '1').send();
    case 'reset-before':
    case 'reset-after':
      reply.hijack();
      reply.raw.socket?.resetAndDestroy();
      return reply;
    case 'hang':
    case 'hang-before':
      reply.hijack();
      return reply;
    case 'slow':
    case 'drip':
    case 'truncated':
      reply.hijack();
      reply.raw.writeHead(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
      if (fault === 'truncated') reply.raw.write(body.slice(0, body.length / 2), () => reply.raw.socket?.destroy());
      else await sendInTime(reply.raw, Buffer.from(body), fault, clock);
      return reply;
  }
}

async function sendInTime(raw: ServerResponse, body: Buffer, fault: 'slow' | 'drip', clock: Clock): Promise<void> {
  const closed = new AbortController();
  raw.once('close', () => closed.abort());
  const [size, pauseMs] = fault === 'slow' ? [body.length, SLOW_MS] : [1, DRIP_MS];
  try {
    for (let at = 0; at < body.length; at += size) {
      await clock.sleep(pauseMs, closed.signal);
      raw.write(body.subarray(at, at + size));
    }
    raw.end();
  } catch (error) {
    // The other side, or the sandbox itself, has closed the connection.
    if (!closed.signal.aborted) throw error;
  }
}
