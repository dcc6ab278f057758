import { expect, it } from 'vitest';
import { Activities, type Activity } from '../../../../src/extensions/health/activity.ts';
import { readStatus, type StatusSources } from '../../../../src/extensions/health/status/read-status.ts';
import { served } from '../../../support/control-socket.ts';
import { scriptedProgram, type TestProgram } from '../../../support/test-program.ts';
import { MINUTE } from '../../../support/tracking.ts';

const ACCOUNTS = 101;

/** The first account of the status after something happened to the last of more accounts than a status has. */
async function firstAfter(trouble: (activity: Activity, live: NonNullable<Activity['live']>) => void) {
  const { program } = await scriptedProgram();
  const { activities, last } = driven(program);
  if (last.live === undefined) throw new Error('the account is not driven');
  trouble(last, last.live);
  program.clock.advance(6 * MINUTE);
  const sources = served(program.app, activities).services['status'] as unknown as () => StatusSources;
  const { daemon } = await readStatus(sources(), undefined);
  expect(daemon?.accounts).toHaveLength(100);
  return daemon?.accounts[0]?.account === last.account;
}

function driven({ app }: TestProgram) {
  const activities = new Activities(app.clock);
  const all = Array.from({ length: ACCOUNTS }, (_, index) => {
    const activity = activities.of(`a${index}`);
    const { exchange, restraints } = app;
    activity.live = { exchange, restraints, accountLease: { isTrusted: () => true } };
    return activity;
  });
  return { activities, last: all.at(-1) as Activity };
}

it.each<[name: string, trouble: Parameters<typeof firstAfter>[0]]>([
  [
    'an order that cannot be written',
    (activity) => activity.hear({ kind: 'order.unwritten', externalOrderId: 'o', cause: 'c' }),
  ],
  ['a lost lease', (activity, live) => void (activity.live = { ...live, accountLease: { isTrusted: () => false } })],
  ['a pass that waits', (activity) => activity.hear({ kind: 'pass.wanted', pass: 'create' })],
])('an account with %s comes first in a status that is cut', async (_name, trouble) => {
  expect(await firstAfter(trouble)).toBe(true);
});
