import { InvalidArgumentError, type Command } from 'commander';
import { createLogUpdate } from 'log-update';
import { deadline, repeatedly } from '../../clock.ts';
import { parseDuration } from '../../config/values.ts';
import { withGracePeriod } from '../../flows/pass/grace-period.ts';
import { syncOnce, type SyncEnd, type SyncResult } from '../../flows/orders/sync.ts';
import type { Counters } from '../../flows/pass/counters.ts';
import { OwnerGoneError, OwnerRefusalError } from '../../http/control/client.ts';
import type { SyncLine } from '../../http/control/routes/sync.ts';
import { StoreError } from '../../store/errors.ts';
import { trouble } from '../answer.ts';
import { CommandError, EXIT } from '../exit.ts';
import { exchangeConfig } from '../options.ts';
import { throughOwner } from '../owner.ts';
import { stopSignal } from './stop-signal.ts';

const EXIT_OF: Readonly<Record<SyncEnd, number>> = {
  done: EXIT.ok,
  look: EXIT.look,
  'out-of-reach': EXIT.unavailable,
  'out-of-time': EXIT.unavailable,
  'key-refused': EXIT.keyRefused,
};
const SAID: Readonly<Record<Exclude<SyncEnd, 'done'>, string>> = {
  look: 'a person should look: see order-sync findings list, and orders list --state held, --state unknown, --state invalid, --state rejected',
  'out-of-reach':
    'the exchange is out of reach or holds requests back; what is left waits in the database, run sync again',
  'out-of-time':
    'the time ran out or the pass was stopped; what is left waits in the database, run sync again or give a longer --timeout',
  'key-refused': 'the exchange refuses the key (401); check exchange.apiKey',
};
const REFRESH_MS = 250;

/** `order-sync sync`: one pass, alone or by the daemon that drives the account. */
export function registerSync(program: Command): void {
  program
    .command('sync')
    .description('one pass: sends what is pending and due, looks up every order being followed once, exits')
    .option('--json', 'print the summary as JSON')
    .option('--timeout <duration>', 'give up after this long', duration, duration('10m'))
    .option('--due-only', 'look up only orders whose time has come')
    .addHelpText('after', '\nExample:\n  order-sync sync --json --timeout 2m')
    .action(async (options: { json?: boolean; timeout: number; dueOnly?: boolean }) => {
      const config = exchangeConfig(program);
      const stop = stopSignal();
      const signal = AbortSignal.any([stop, deadline(options.timeout)]);
      const scope = options.dueOnly === true ? 'due' : 'all';
      using progress = new Progress();
      const result = await throughOwner(
        config,
        (owner) => {
          const path = `/sync?scope=${scope}&timeoutMs=${options.timeout}`;
          return besideDaemon(owner.lines({ method: 'POST', path, waitMs: options.timeout }), progress);
        },
        (app) => withGracePeriod(app, signal, () => syncOnce(app, scope, signal, (counts) => progress.show(counts))),
        stop,
      ).catch((error: unknown) => {
        if (error instanceof OwnerRefusalError) throw trouble(error.outcome);
        throw stop.aborted
          ? new CommandError(EXIT.unavailable, 'stopped before the pass was done', { cause: error })
          : error;
      });
      progress[Symbol.dispose]();
      print(result, options.json === true);
      process.exitCode = EXIT_OF[result.end];
    });
}

async function besideDaemon(lines: AsyncGenerator<unknown>, progress: Progress): Promise<SyncResult> {
  for await (const line of lines as AsyncGenerator<SyncLine>) {
    if (line.type === 'progress') progress.show(line.counts);
    if (line.type === 'result') return { summary: line.summary, end: line.end };
    if (line.type === 'error') {
      const message = `the daemon's pass failed: ${line.message}`;
      throw line.problem === undefined ? new Error(message) : new StoreError(line.problem, message);
    }
  }
  throw new OwnerGoneError('the daemon stopped before its pass was done; run sync again');
}

function print({ summary, end }: SyncResult, asJson: boolean): void {
  const text = Object.entries(summary).map(([name, value]) => `${name.padEnd(11)} ${value}`);
  process.stdout.write(asJson ? `${JSON.stringify(summary)}\n` : `${text.join('\n')}\n`);
  if (end !== 'done') process.stderr.write(`${SAID[end]}\n`);
}

function duration(text: string): number {
  try {
    return parseDuration(text);
  } catch {
    throw new InvalidArgumentError('write a duration such as 250ms, 5s, 10m or 24h');
  }
}

/** One line on a terminal's stderr that follows a pass; nothing elsewhere. */
class Progress implements Disposable {
  readonly #line = process.stderr.isTTY ? createLogUpdate(process.stderr) : undefined;
  #counts: Readonly<Counters> | undefined;
  #refresh: Disposable | undefined;

  show(counts: Readonly<Counters>): void {
    this.#counts = counts;
    if (this.#line === undefined) return;
    this.#refresh ??= repeatedly(REFRESH_MS, () => this.#draw());
    this.#draw();
  }

  [Symbol.dispose](): void {
    this.#refresh?.[Symbol.dispose]();
    this.#line?.clear();
  }

  #draw(): void {
    const counts = this.#counts;
    if (counts === undefined) return;
    this.#line?.(
      `sent ${counts.sent} · accepted ${counts.accepted} · looked up ${counts.lookedUp} · changed ${counts.changed} · failed ${counts.failed}`,
    );
  }
}
