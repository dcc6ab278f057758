import { afterEach, expect, it, vi } from 'vitest';
import { retryAfterMs } from '../../src/exchange/reply.ts';

afterEach(() => void vi.unstubAllEnvs());

it.each(['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994'])(
  'a Retry-After is UTC in each form of a date: %s',
  (header) => {
    vi.stubEnv('TZ', 'America/New_York');
    expect(retryAfterMs(header, new Date('1994-11-06T08:49:27Z'))).toBe(10_000);
  },
);
