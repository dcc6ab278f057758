import type { Command } from 'commander';
import { createLogUpdate } from 'log-update';
import type { App } from '../../app.ts';
import { deadline, repeatedly } from '../../clock.ts';
import { describeHold } from '../../domain/accounts/holds.ts';
import type { FollowScope } from '../../flows/orders/follow.ts';
import type { SyncEnd, SyncResult } from '../../flows/orders/sync.ts';
import type { Counters } from '../../flows/pass/counters.ts';
import { OwnerGoneError, OwnerRefusalError } from '../../http/control/client.ts';
import type { SyncLine } from '../../http/control/operations/sync.ts';
import { printable } from '../../reports/formats/text.ts';
import { StoreError } from '../../store/errors.ts';
import { commandError, throughOwner } from '../shared/exchange.ts';
import { CommandError, EXIT } from '../shared/exit.ts';
import { durationOption, plainConfig } from '../shared/options.ts';
import { stopSignal } from '../shared/stop-signal.ts';

const EXIT_OF: Readonly<Record<SyncEnd, number>> = {
  done: EXIT.ok,
  look: EXIT.look,
  'out-of-reach': EXIT.unavailable,
  'out-of-time': EXIT.unavailable,
  'key-refused': EXIT.keyRefused,
};
const ADVICE: Readonly<Record<Exclude<SyncEnd, 'done'>, string>> = {
  look: 'a person should look: see order-sync findings list, and orders list --state held, --state disputed, --state unknown, --state invalid, --state rejected; requests that failed stand in the log',
  'out-of-reach':
    'the exchange is out of reach or requests are paused or held back; the remaining orders wait in the database, run sync again',
  'out-of-time':
    'the time ran out or the pass was stopped; the remaining orders wait in the database, run sync again or give a longer --timeout',
  'key-refused': 'the exchange refuses the key (401); check exchange.apiKey',
};
const REFRESH_MS = 250;

/** `order-sync sync`: one pass, alone or by the daemon that drives the account. */
export function define(command: Command): void {
  command
    .option('--json', 'print the summary as JSON')
    .addOption(durationOption('--timeout <duration>', 'end the pass after this time', '10m'))
    .option('--due-only', 'look up only the orders that are due')
    .addHelpText('after', '\nExample:\n  order-sync sync --json --timeout 2m')
    .action(async ({ json, timeout, dueOnly }: { json?: boolean; timeout: number; dueOnly?: boolean }) => {
      const stop = stopSignal();
      const signal = AbortSignal.any([stop, deadline(timeout)]);
      const scope = dueOnly === true ? 'due' : 'all';
      using progress = progressLine();
      const result = await throughOwner(
        plainConfig(command),
        (owner) => besideDaemon(owner.sync({ scope, timeoutMs: timeout }), progress),
        (app) => alone(app, scope, signal, progress),
        stop,
      ).catch((error: unknown) => {
        if (error instanceof OwnerRefusalError) throw commandError(error.result);
        throw stop.aborted
          ? new CommandError(EXIT.unavailable, 'stopped before the pass was done', { cause: error })
          : error;
      });
      progress[Symbol.dispose]();
      print(result, json === true);
      process.exitCode = EXIT_OF[result.end];
    });
}

async function alone(app: App, scope: FollowScope, signal: AbortSignal, progress: Progress): Promise<SyncResult> {
  const { withGracePeriod } = await import('../../flows/pass/grace-period.ts');
  const { syncOnce } = await import('../../flows/orders/sync.ts');
  const { watchDatabase } = await import('../../flows/pass/repeat.ts');
  const over = new AbortController();
  // A pause binds from the moment on in which it is set. That the database is gone the pass itself finds out.
  const watching = watchDatabase(app, over.signal, async () => {
    await app.holds.read();
  }).catch(() => undefined);
  try {
    return await withGracePeriod(app, signal, () => syncOnce(app, scope, signal, (counts) => progress.show(counts)));
  } finally {
    over.abort();
    await watching;
  }
}

async function besideDaemon(lines: AsyncGenerator<SyncLine>, progress: Progress): Promise<SyncResult> {
  for await (const line of lines) {
    if (line.type === 'progress') progress.show(line.counts);
    if (line.type === 'result') return { summary: line.summary, end: line.end, holds: line.holds };
    if (line.type === 'error') {
      const message = `the daemon's pass failed: ${line.message}`;
      throw line.problem === undefined ? new Error(message) : new StoreError(line.problem, message);
    }
  }
  throw new OwnerGoneError('the daemon stopped before its pass was done; run sync again');
}

function print({ summary, end, holds }: SyncResult, asJson: boolean): void {
  const text = Object.entries(summary).map(([name, value]) => `${name.padEnd(11)} ${value}`);
  process.stdout.write(asJson ? `${JSON.stringify({ ...summary, holds })}\n` : `${text.join('\n')}\n`);
  for (const hold of holds) process.stderr.write(`${printable(describeHold(hold))}\n`);
  if (end !== 'done') process.stderr.write(`${ADVICE[end]}\n`);
}

interface Progress extends Disposable {
  show(counts: Readonly<Counters>): void;
}

/** Makes a line on a terminal's stderr that follows the counts of a pass; nothing elsewhere. */
function progressLine(): Progress {
  const line = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
  let latest: Readonly<Counters> | undefined;
  const draw = () => {
    if (latest === undefined) return;
    const { sent, accepted, lookedUp, changed, failed } = latest;
    line?.(`sent ${sent} · accepted ${accepted} · looked up ${lookedUp} · changed ${changed} · failed ${failed}`);
  };
  const refresh = line && repeatedly(REFRESH_MS, draw);
  return {
    show(counts) {
      latest = counts;
      draw();
    },
    [Symbol.dispose]() {
      refresh?.[Symbol.dispose]();
      line?.clear();
    },
  };
}
