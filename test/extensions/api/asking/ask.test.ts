import { describe, expect, it } from 'vitest';
import { commandError } from '../../../../src/extensions/api/asking/ask.ts';
import { explainError } from '../../../../src/cli/shared/exit.ts';
import type { FailedResult } from '../../../../src/extensions/api/envelope.ts';

const refused = (httpStatus: number, code: string, status?: string): FailedResult => ({
  kind: 'refused',
  httpStatus,
  error: { message: 'm', code, ...(status !== undefined && { status }) },
});

describe('the exit code of a failed operation', () => {
  it.each<[FailedResult, number]>([
    [refused(404, '404', 'NOT_FOUND'), 1],
    [refused(400, '400', 'INVALID_EMAIL'), 1],
    [refused(400, '400', 'LINK_ALREADY_EXISTS'), 1],
    [refused(400, '400', 'BAD_REQUEST'), 1],
    [refused(400, 'INVALID_VALUE'), 1],
    [refused(403, 'c', 'FORBIDDEN'), 1],
    [{ kind: 'key-refused' }, 77],
    [{ kind: 'rate-limited', retryAfterMs: 7_000 }, 69],
    [{ kind: 'not-sent', why: 'ECONNREFUSED' }, 69],
    [{ kind: 'unknown', why: 'the answer cannot be read' }, 69],
    [{ kind: 'unusable', message: 'm', httpStatus: 400 }, 64],
    [{ kind: 'invalid', message: 'm', httpStatus: 400 }, 64],
    [{ kind: 'invalid', message: 'm', httpStatus: 404 }, 69],
    [{ kind: 'failed', message: 'm', httpStatus: 500 }, 69],
  ])('%j is %i', (result, code) => {
    expect(explainError(commandError(result)).code).toBe(code);
  });

  it('comes with the answer of the exchange, which cannot steer a terminal', () => {
    const error = { message: '\u001b[2J', code: 'c', status: 's' };
    const { message } = commandError({ kind: 'refused', httpStatus: 403, error });
    expect(message).toContain('HTTP 403 s: \\u001b[2J');
  });

  it.each([
    ['not-found', 404, '404', 'NOT_FOUND', 'no link "a" at the exchange'],
    ['invalid-email', 400, '400', 'INVALID_EMAIL', 'e-mail address'],
    ['link-already-exists', 400, '400', 'LINK_ALREADY_EXISTS', 'already'],
    ['upload-url-not-set', 400, 'INVALID_VALUE', undefined, 'merchant settings'],
  ])('says of a refusal %s what it means', (_reason, httpStatus, code, status, meaning) => {
    expect(commandError(refused(httpStatus, code, status), 'no link "a"').message).toContain(meaning);
  });
});
