import { Option, type Command } from 'commander';
import { systemClock } from '../base/clock.ts';
import { configOf, loadConfig } from '../settings/config.ts';
import { runDaemon } from '../daemon.ts';
import { describeRestraint } from '../accounts/rules/restraints.ts';
import { dryRun, type DryRun } from '../extensions/intake/dry-run.ts';
import { createLog } from '../base/log.ts';
import { fieldsText, type Field } from '../extensions/documents/terminal.ts';
import { counted, inUnits, withCommas } from '../base/words.ts';
import { RESTORE_ADVICE } from '../store/mark.ts';
import { explainError, EXIT, stopSignal } from './shared/exit.ts';
import { driversOf, extensionsOf, partsOf, servicesOf } from './shared/extensions.ts';
import { screenOf } from './shared/help.ts';
import { configOptions, wholeNumber } from './shared/options.ts';
import { withStore } from './shared/store.ts';

const HELP = `
--dry-run reads the database and asks the exchange nothing: what would be sent,
what is invalid and why, how long it takes at the limit of the rate, and what
would stop it. It ends with 1 where something is invalid or would be stopped.

Examples:
  ORDER_SYNC_EXCHANGE_API_KEY_FILE=/etc/order-sync/key order-sync run
  order-sync run --dry-run --rows 3`;

export function define(command: Command): void {
  command
    .description(
      'runs the daemon: sends pending orders and follows them to their end, with one line per event on stdout: JSON, or text for people on a terminal',
    )
    .option('--dry-run', 'send nothing and write nothing: show what would be sent, and end')
    .addOption(
      new Option('--rows <number>', 'with --dry-run: show so many orders of each account').argParser(
        wholeNumber(0, 1_000),
      ),
    )
    .option('--json', 'with --dry-run: print JSON')
    .addHelpText('after', HELP)
    .action(async ({ dryRun: isDry, rows, json }: { dryRun?: boolean; rows?: number; json?: boolean }) => {
      if (isDry === true) return await showDryRun(command, rows ?? 10, json === true);
      if (rows !== undefined || json === true) command.error('error: --rows and --json are for --dry-run');
      let log: ReturnType<typeof createLog> | undefined;
      try {
        const config = loadConfig({ ...(await configOptions(command)), requireExchange: true });
        log = createLog(config.log.level);
        const extensions = extensionsOf(command);
        const [services, parts] = await Promise.all([servicesOf(extensions), partsOf(extensions)]);
        const store = { drivers: driversOf(command) };
        await runDaemon(config, stopSignal(), () => process.send?.('ready'), { ...parts, log, services, store });
      } catch (error) {
        // On a terminal the line on stderr is enough; who reads the log alone has this one.
        if (!process.stdout.isTTY || !process.stderr.isTTY) {
          const { code: exitCode, message: cause } = explainError(error);
          (log ?? createLog('info')).fatal({ cause, exitCode }, 'order-sync cannot go on');
        }
        throw error;
      }
    });
}

/** `order-sync run --dry-run`. It owns nothing and writes nothing. */
async function showDryRun(command: Command, rows: number, isJson: boolean): Promise<void> {
  await withStore(command, 'current', async (store, config) => {
    let needsLook = false;
    for (const { name } of config.accounts) {
      const deps = { account: name, store: store.forAccount(name), config: configOf(config, name) };
      const found = await dryRun({ ...deps, now: systemClock().now(), rows });
      const { wouldSend, invalid, holds, guard, olderState } = found;
      const isStopped = holds.length > 0 || guard !== null || olderState !== null;
      needsLook ||= isStopped || invalid.orders > 0;
      // One line an account, so that thousands take no memory.
      if (isJson) process.stdout.write(`${JSON.stringify(found)}\n`);
      else if (config.accounts.length === 1 || isStopped || wouldSend.orders + invalid.orders > 0) {
        process.stdout.write(`${asText(found)}\n`);
      }
    }
    if (needsLook) process.exitCode = EXIT.look;
  });
}

function asText({ account, wouldSend, invalid, holds, guard, olderState, ...times }: DryRun): string {
  const { orders, later, sums, unsummed, first } = wouldSend;
  const more = later === 0 ? '' : `, ${withCommas(later)} of them later`;
  const fields: Field[] = [
    { label: 'account', value: account },
    { label: 'would be sent', value: `${counted(orders, 'order')}${more}` },
    ...sums.map((pair) => {
      const value = `${pair.asset} (${pair.assetPosition}) in ${counted(pair.orders, 'order')}`;
      return { label: `${pair.from} to ${pair.to}`, value };
    }),
    ...(unsummed > 0 ? [{ label: 'of other pairs', value: counted(unsummed, 'order') }] : []),
    { label: 'invalid', value: counted(invalid.orders, 'order') },
    {
      label: 'at the limit',
      value: `${inUnits(times.takesMs)}, beside look-ups ${inUnits(times.takesBesideLookupsMs)}`,
    },
    { label: 'look-ups due', value: times.lookupsDue },
    ...holds.map((hold) => ({ label: 'stops it', value: describeRestraint(hold, account) })),
    ...(guard === null
      ? []
      : [{ label: 'stops it', value: `after ${counted(guard.afterOrders, 'order')}: ${guard.reason}` }]),
    ...(olderState === null ? [] : [{ label: 'stops it', value: `the database ${olderState}; ${RESTORE_ADVICE}` }]),
    ...first.map(({ body }) => ({ label: 'body', value: body })),
    ...invalid.first.map(({ externalOrderId, reason }) => ({
      label: 'invalid',
      value: `${externalOrderId}: ${reason}`,
    })),
  ];
  return fieldsText(fields, screenOf());
}
