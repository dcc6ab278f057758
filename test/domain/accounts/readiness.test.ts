import { describe, expect, it } from 'vitest';
import {
  LEAST_FREE_BYTES,
  readinessChecks,
  STALLED_AFTER_MS,
  type AccountReadiness,
  type ProcessReadiness,
} from '../../../src/domain/accounts/readiness.ts';

const ACCOUNT: AccountReadiness = {
  account: 'shop-1',
  isTrusted: true,
  isKeyRefused: false,
  stopped: undefined,
  outOfReach: undefined,
  stalledMs: STALLED_AFTER_MS,
};
const PROCESS: ProcessReadiness = {
  isStopping: false,
  databaseFailure: undefined,
  otherMigrations: [],
  owned: 1,
  isShared: false,
  accounts: [ACCOUNT],
  freeBytes: LEAST_FREE_BYTES,
};
const failing = (changes: Partial<ProcessReadiness>) =>
  readinessChecks({ ...PROCESS, ...changes }).filter(({ ok }) => !ok);

describe('a process', () => {
  it('is ready where nothing is wrong', () => expect(failing({})).toEqual([]));

  it.each([
    ['process', { isStopping: true }],
    ['database', { databaseFailure: 'it is locked' }],
    ['migrations', { otherMigrations: ['0009_other'] }],
    ['ownership', { owned: 0, accounts: [] }],
    ['disk', { freeBytes: LEAST_FREE_BYTES - 1 }],
  ] as const)('is not ready by its %s', (check, changes) => {
    expect(failing(changes)).toEqual([{ check, ok: false, reason: expect.any(String) }]);
  });

  it.each([
    ['ownership', { isTrusted: false }],
    ['stopped', { stopped: 'the account one is stopped' }],
    ['exchange', { outOfReach: 'ECONNREFUSED' }],
    ['key', { isKeyRefused: true }],
    ['passes', { stalledMs: STALLED_AFTER_MS + 1 }],
  ] as const)('is not ready by the %s of an account, which it names', (check, changes) => {
    const accounts = [ACCOUNT, { ...ACCOUNT, account: 'shop-2', ...changes }];
    expect(failing({ accounts })).toEqual([{ check, ok: false, reason: expect.stringContaining('shop-2') }]);
    expect(failing({ accounts })[0]?.reason).not.toContain('shop-1');
  });

  it('names a few of many accounts', () => {
    const accounts = Array.from({ length: 1_000 }, (_, index) => ({
      ...ACCOUNT,
      account: `a${index}`,
      isKeyRefused: true,
    }));
    expect(failing({ accounts })[0]?.reason).toContain('a0, a1, a2, a3, a4, …');
    expect(failing({ accounts: accounts.slice(0, 5) })[0]?.reason).toMatch(/a0, a1, a2, a3, a4\b[^,]/);
  });

  it.each<[Partial<ProcessReadiness>, readonly string[]]>([
    [{ isStopping: true }, ['stops']],
    [{ databaseFailure: 'it is locked' }, ['it is locked']],
    [{ otherMigrations: ['0008_one', '0009_other'] }, ['0008_one, 0009_other']],
    [{ owned: 0 }, ['does not drive']],
    [{ freeBytes: LEAST_FREE_BYTES - 1 }, ['255 MiB', '256 MiB']],
    [{ accounts: [ACCOUNT, { ...ACCOUNT, outOfReach: 'ECONNREFUSED' }] }, ['(ECONNREFUSED)']],
    [{ accounts: [{ ...ACCOUNT, stalledMs: STALLED_AFTER_MS + 1 }] }, ['10 min']],
  ])('says what is wrong: %o', (changes, parts) => {
    const [{ reason } = { reason: undefined }] = failing(changes);
    for (const part of parts) expect(reason).toContain(part);
  });

  it('gives no reason where nothing is wrong', () => {
    for (const check of readinessChecks(PROCESS)) expect(Object.keys(check)).toEqual(['check', 'ok']);
  });

  it('may own no account where others own them', () => {
    expect(failing({ owned: 0, accounts: [], isShared: true })).toEqual([]);
  });

  it('is ready where the disk cannot be asked', () => expect(failing({ freeBytes: undefined })).toEqual([]));
});
