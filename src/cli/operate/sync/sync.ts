import type { Command } from 'commander';
import type { App } from '../../../app.ts';
import { deadline } from '../../../clock.ts';
import { describeHold } from '../../../domain/accounts/holds.ts';
import type { FollowScope } from '../../../flows/orders/follow.ts';
import type { SyncEnd, SyncResult } from '../../../flows/orders/sync.ts';
import { OwnerGoneError, OwnerRefusalError } from '../../../http/control/client.ts';
import type { SyncLine } from '../../../http/control/operations/sync.ts';
import { fieldsText } from '../../../reports/formats/terminal/layout.ts';
import { toned, wrapped } from '../../../reports/formats/terminal/screen.ts';
import { printable } from '../../../reports/formats/text.ts';
import { StoreError } from '../../../store/errors.ts';
import { commandError, throughOwner } from '../../shared/exchange.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { accountConfig, durationOption } from '../../shared/options.ts';
import { screenOf } from '../../shared/screen.ts';
import { stopSignal } from '../../shared/stop-signal.ts';
import { progressLine, type ProgressLine } from './progress.ts';
import { verdictOf, type SyncVerdict } from './verdict.ts';

const EXIT_OF: Readonly<Record<SyncEnd, number>> = {
  done: EXIT.ok,
  look: EXIT.look,
  'out-of-reach': EXIT.unavailable,
  'out-of-time': EXIT.unavailable,
  'key-refused': EXIT.keyRefused,
};

const STOPPED = 'stopped before the pass was done; what waits stands in the database, order-sync sync goes on';

/** `order-sync sync`: one pass, alone or by the daemon that drives the account. */
export function define(command: Command): void {
  command
    .option('--json', 'print the summary as JSON')
    .addOption(durationOption('--timeout <duration>', 'end the pass after this time', '10m'))
    .option('--due-only', 'look up only the orders that are due')
    .addHelpText('after', '\nExample:\n  order-sync sync --json --timeout 2m')
    .action(async ({ json, timeout, dueOnly }: { json?: boolean; timeout: number; dueOnly?: boolean }) => {
      const config = accountConfig(command);
      const { account } = config;
      const stop = stopSignal();
      const signal = AbortSignal.any([stop, deadline(timeout)]);
      const scope = dueOnly === true ? 'due' : 'all';
      using progress = progressLine();
      const result = await throughOwner(
        config,
        (owner) => besideDaemon(owner.sync({ scope, timeoutMs: timeout }), progress),
        (app) => alone(app, scope, signal, progress),
        { signal: stop, onLog: (write) => progress.above(write) },
      ).catch((error: unknown) => {
        if (error instanceof OwnerRefusalError) throw commandError(error.result);
        throw stop.aborted ? new CommandError(EXIT.unavailable, STOPPED, { cause: error }) : error;
      });
      progress[Symbol.dispose]();
      print(
        result,
        account,
        verdictOf(result, { account, isStopped: stop.aborted, requests: progress.latest?.requests }),
        json === true,
      );
      process.exitCode = EXIT_OF[result.end];
    });
}

async function alone(app: App, scope: FollowScope, signal: AbortSignal, progress: ProgressLine): Promise<SyncResult> {
  const { withGracePeriod } = await import('../../../flows/pass/run.ts');
  const { syncOnce } = await import('../../../flows/orders/sync.ts');
  const over = new AbortController();
  // A pause binds from the moment on in which it is set. That the database is gone the pass itself finds out.
  const watching = heedHolds(app, over.signal).catch(() => undefined);
  try {
    return await withGracePeriod(app, signal, () =>
      syncOnce(app, scope, signal, (counts, requests) => progress.show({ counts, requests })),
    );
  } finally {
    over.abort();
    await watching;
  }
}

async function heedHolds({ store, holds }: App, over: AbortSignal): Promise<void> {
  for await (const _ of store.changes(over)) await holds.read();
}

async function besideDaemon(lines: AsyncGenerator<SyncLine>, progress: ProgressLine): Promise<SyncResult> {
  for await (const line of lines) {
    if (line.type === 'progress') progress.show(line);
    if (line.type === 'result') return { summary: line.summary, end: line.end, holds: line.holds };
    if (line.type === 'error') {
      const message = `the daemon's pass failed: ${line.message}`;
      throw line.problem === undefined ? new Error(message) : new StoreError(line.problem, message);
    }
  }
  throw new OwnerGoneError('the daemon stopped before its pass was done; run sync again');
}

function print(
  { summary, end, holds }: SyncResult,
  account: string,
  { tone, text }: SyncVerdict,
  asJson: boolean,
): void {
  if (asJson) {
    process.stdout.write(`${JSON.stringify({ ...summary, holds })}\n`);
    if (end !== 'done') process.stderr.write(`${text}\n`);
  } else {
    const screen = screenOf();
    const { durationMs, ...counts } = summary;
    const fields = Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => ({ label: name === 'lookedUp' ? 'looked up' : name, value: count }));
    const took = { label: 'took', value: `${(durationMs / 1_000).toFixed(1)} s` };
    process.stdout.write(
      `${toned(tone, wrapped(text, screen.width), screen)}\n\n${fieldsText([...fields, took], screen)}`,
    );
  }
  for (const hold of holds) process.stderr.write(`${printable(describeHold(hold, account))}\n`);
}
