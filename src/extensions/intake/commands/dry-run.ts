import type { Command } from 'commander';
import { otherAccountsProblems } from '../../operate/rules/problems.ts';
import { systemClock } from '../../../base/clock.ts';
import { pasteable } from '../../../base/invocation.ts';
import { printable, withCommas } from '../../../base/words.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { describeRestraint } from '../../../accounts/rules/restraints.ts';
import type { DryRunOptions } from '../../../cli/extension.ts';
import { EXIT } from '../../../cli/shared/exit.ts';
import { screenOf } from '../../../cli/shared/help.ts';
import { withStore } from '../../../cli/shared/store.ts';
import { fieldsText, type Field } from '../../../cli/shared/terminal.ts';
import { configOf } from '../../../settings/config.ts';
import { RESTORE_ADVICE } from '../../../store/mark.ts';
import { dryRun, type DryRun } from '../dry-run.ts';
import { countOfOthers } from '../../operate/tables/listed-orders.ts';
import { counted, inUnits } from '../../documents/words.ts';

/** `order-sync run --dry-run`: becomes the owner of no account, and writes nothing to the database. */
export async function showDryRun(command: Command, { rows, isJson }: DryRunOptions): Promise<void> {
  await withStore(command, 'current', async (store, config) => {
    let needsLook = false;
    for (const { name } of config.accounts) {
      const deps = { account: name, store: store.forAccount(name), config: configOf(config, name) };
      const found = await dryRun({ ...deps, now: systemClock().now(), rows });
      const { wouldSend, invalid, newInvalid, holds, guard, olderState } = found;
      const isStopped = holds.length > 0 || guard !== null || olderState !== null;
      needsLook ||= isStopped || invalid.orders + newInvalid > 0;
      // Each account is printed at once, so that the memory does not grow with the number of accounts.
      if (isJson) process.stdout.write(`${JSON.stringify(found)}\n`);
      else if (config.accounts.length === 1 || isStopped || wouldSend.orders + invalid.orders + newInvalid > 0) {
        process.stdout.write(`${asText(found)}\n`);
      }
    }
    for (const { text, remedy } of otherAccountsProblems(await countOfOthers(store.db, config.accounts))) {
      process.stderr.write(`${printable(text)}; ${remedy}\n`);
      needsLook = true;
    }
    if (needsLook) process.exitCode = EXIT.look;
  });
}

function asText({ account, wouldSend, invalid, newInvalid, holds, guard, olderState, ...times }: DryRun): string {
  const { orders, later, sums, unsummed, first } = wouldSend;
  const more = later === 0 ? '' : `, ${withCommas(later)} of them later`;
  const list = pasteable(`order-sync orders list --state invalid${accountWords(account)}`);
  const ofDay = `${counted(newInvalid, 'order')} of the last 24 hours: ${list}`;
  const stops = holds.map((hold) => describeRestraint(hold, account));
  if (guard !== null) stops.push(`after ${counted(guard.afterOrders, 'order')}: ${guard.reason}`);
  if (olderState !== null) stops.push(`the database ${olderState}; ${RESTORE_ADVICE}`);
  const [alone, beside] = [inUnits(times.takesMs), inUnits(times.takesBesideLookupsMs)];
  const fields: Field[] = [
    { label: 'account', value: account },
    { label: 'would be sent', value: `${counted(orders, 'order')}${more}` },
    ...sums.map(({ from, to, asset, assetPosition, orders: ofPair }) => {
      return { label: `${from} to ${to}`, value: `${asset} (${assetPosition}) in ${counted(ofPair, 'order')}` };
    }),
    ...(unsummed > 0 ? [{ label: 'of other pairs', value: counted(unsummed, 'order') }] : []),
    { label: 'invalid', value: counted(invalid.orders, 'order') },
    ...(newInvalid === 0 ? [] : [{ label: 'new and invalid', value: ofDay }]),
    { label: 'time needed', value: `${alone} at the rate limit, ${beside} beside look-ups` },
    { label: 'look-ups due', value: times.lookupsDue },
    ...stops.map((value) => ({ label: 'blocked', value })),
    ...first.map(({ body }) => ({ label: 'body', value: body })),
    ...invalid.first.map(({ externalOrderId: id, reason }) => ({ label: 'invalid', value: `${id}: ${reason}` })),
  ];
  return fieldsText(fields, screenOf());
}
