import { expect, it } from 'vitest';
import { postgresError } from '../../../src/extensions/postgres/errors.ts';

it('tells why a host with several addresses is out of reach: each of them has an error of its own', () => {
  const refused = ['::1', '127.0.0.1'].map((host) =>
    Object.assign(new Error(`connect ECONNREFUSED ${host}:5432`), { code: 'ECONNREFUSED' }),
  );
  const { problem, message } = postgresError(new AggregateError(refused), 'postgres://u@localhost/d');
  expect(problem).toBe('disk');
  expect(message).toContain('connect ECONNREFUSED ::1:5432');
});
