import { describe, expect, it } from 'vitest';
import { readEnvelope, writeEnvelope, type Result } from '../../../src/extensions/api/envelope.ts';

const RESULTS: readonly Result[] = [
  { kind: 'ok', body: '{"asset":12345678901234567.123456789}', httpStatus: 200 },
  { kind: 'ok', body: '[]', httpStatus: 201 },
  { kind: 'ok', body: ' null', httpStatus: 200 },
  { kind: 'refused', httpStatus: 404, error: { message: 'link not found', code: '404', status: 'NOT_FOUND' } },
  { kind: 'refused', httpStatus: 400, error: { message: 'Upload url was not set', code: 'INVALID_VALUE' } },
  { kind: 'refused', httpStatus: 418, error: { message: '"', code: '', status: '' } },
  { kind: 'key-refused' },
  { kind: 'rate-limited', retryAfterMs: 7_000 },
  { kind: 'rate-limited', retryAfterMs: 0 },
  { kind: 'not-sent', why: 'w' },
  { kind: 'unknown', why: 'w' },
  { kind: 'unusable', message: 'm', httpStatus: 400 },
  { kind: 'invalid', message: 'm', httpStatus: 409 },
  { kind: 'invalid', message: 'm', httpStatus: 405, reason: 'method-not-allowed' },
  { kind: 'unauthorized', message: 'm', httpStatus: 401 },
  { kind: 'forbidden', message: 'm', httpStatus: 403 },
  { kind: 'limited', message: 'm', httpStatus: 429, retryAfterMs: 3_000 },
  { kind: 'not-owner', message: 'm', httpStatus: 421, owner: 'https://worker-2.example:8443' },
  { kind: 'failed', message: 'm', httpStatus: 503 },
];

describe('an envelope of the control socket', () => {
  it.each(RESULTS.map((result) => [JSON.stringify(result), result] as const))('tells all of %s', (_name, result) => {
    expect(readEnvelope(writeEnvelope(result))).toEqual(result);
  });

  it('is a problem of RFC 9457 beside the members that were there before', () => {
    const { body } = writeEnvelope({ kind: 'not-sent', why: 'ECONNREFUSED' });
    const error = {
      kind: 'not-sent',
      reason: null,
      message: 'ECONNREFUSED',
      httpStatus: null,
      code: null,
      status: null,
    };
    const title = expect.any(String) as string;
    const type = 'urn:order-sync:problem:not-sent';
    expect(JSON.parse(body)).toEqual({ type, title, status: 503, detail: 'ECONNREFUSED', ok: false, error });
  });

  it.each<[Result, number | undefined]>([
    [{ kind: 'key-refused' }, 502],
    [{ kind: 'refused', httpStatus: 200, error: { message: 'm', code: 'INVALID_VALUE' } }, 502],
    [{ kind: 'not-sent', why: 'w' }, 503],
    [{ kind: 'failed', message: 'm', httpStatus: 503 }, 503],
    [{ kind: 'unknown', why: 'w' }, 504],
    [{ kind: 'failed', message: 'm', httpStatus: 500 }, undefined],
    [{ kind: 'unknown', why: 'w', httpStatus: 409 }, undefined],
  ])(
    'says with 502, 503 and 504, and with no other failure of this program, when to come again: %j',
    (result, status) => {
      const { httpStatus, retryAfterSeconds } = writeEnvelope(result);
      expect(retryAfterSeconds === undefined ? undefined : httpStatus).toBe(status);
    },
  );

  it('says when to come again in whole seconds, not too early', () => {
    expect(writeEnvelope({ kind: 'rate-limited', retryAfterMs: 1_001 }).retryAfterSeconds).toBe(2);
  });

  const UNREADABLE = [
    '',
    'OK',
    'null',
    '[]',
    '{}',
    '{"error":"Bad","statusCode":400}',
    '{"ok":false,"error":{"kind":"new"}}',
  ];

  it.each(UNREADABLE)('that refuses a request and cannot be read, %s, is a failure that says what to do', (body) => {
    expect(readEnvelope({ httpStatus: 404, body })).toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/another version of order-sync; restart it$/) as string,
    });
  });

  it.each(UNREADABLE.flatMap((body) => [200, 302, 500, 502].map((httpStatus) => [httpStatus, body] as const)))(
    'with status %i that cannot be read, %s, leaves the outcome unknown',
    (httpStatus, body) => {
      expect(readEnvelope({ httpStatus, body })).toMatchObject({ kind: 'unknown' });
    },
  );
});
