import { expect, it } from 'vitest';
import { patientlyWith } from '../../../src/orders/pass/run.ts';
import { StoreError } from '../../../src/store/errors.ts';
import { capturedLog } from '../../support/captured-log.ts';
import { MINUTE, SECOND } from '../../support/tracking.ts';

const FULL = new StoreError('busy', 'the server takes no more connections');

/** Patience whose clock a test moves. */
function begun() {
  const log = capturedLog();
  let now = 0;
  const clock = { monotonic: () => now };
  const patiently = patientlyWith({ store: { isInPlace: () => true }, clock, log: log.logger });
  const fail = (error: Error = FULL) =>
    patiently(async () => {
      throw error;
    });
  const succeed = () => patiently(async () => {});
  const pass = (ms: number) => (now += ms);
  return { log, levels: () => log.lines.map(({ level }) => level), fail, succeed, pass };
}

it('a database that is read now and then not is logged once, each minute, and when it was well for a while', async () => {
  const { log, levels, fail, succeed, pass } = begun();
  await succeed();
  for (let passed = 0; passed < 2 * MINUTE; passed += SECOND) {
    await fail();
    await succeed();
    pass(SECOND);
  }
  expect(levels()).toEqual(['error', 'error']);
  pass(5 * SECOND);
  await succeed();
  await succeed();
  expect(levels()).toEqual(['error', 'error', 'info']);
  expect(log.lines).toMatchObject([
    { cause: FULL.message },
    { cause: FULL.message, failures: 60, lastedMs: MINUTE },
    { failures: 120, lastedMs: 2 * MINUTE - SECOND },
  ]);
});

it('what does not pass by itself is not waited out', async () => {
  const { levels, fail } = begun();
  for (const error of [new StoreError('unusable', 'no tables'), new TypeError('a bug')]) {
    await expect(fail(error)).rejects.toBe(error);
  }
  expect(levels()).toEqual([]);
});
