import { Option, type Command } from 'commander';
import type { App } from '../app.ts';
import { deadline } from '../base/clock.ts';
import { describeRestraint } from '../accounts/rules/restraints.ts';
import type { FollowScope } from '../orders/follow.ts';
import type { SyncEnd, SyncResult } from '../orders/sync.ts';
import { toned, wrapped, fieldsText, type Tone } from './shared/terminal.ts';
import { printable } from '../base/words.ts';
import { extensionsOf } from './shared/extensions.ts';
import { CommandError, EXIT, stopSignal } from './shared/exit.ts';
import { accountConfig, addUrlOption, duration, urlsOf } from './shared/options.ts';
import { throughOwner } from './shared/owner.ts';
import { keyPlaceByAccount } from '../settings/config.ts';
import { screenOf } from './shared/help.ts';
import { progressLine, type ProgressLine } from './shared/progress.ts';
import { pasteable } from '../base/invocation.ts';

const ENDS: Readonly<Record<SyncEnd, readonly [tone: Tone, exitCode: number]>> = {
  done: ['good', EXIT.ok],
  look: ['warning', EXIT.look],
  'out-of-reach': ['error', EXIT.unavailable],
  'out-of-time': ['warning', EXIT.unavailable],
  'key-refused': ['error', EXIT.keyRefused],
};

const STOPPED = 'stopped before the pass ended; no order is lost: run order-sync sync to continue';

export function define(command: Command): void {
  const extensions = extensionsOf(command);
  if (extensions.some((extension) => extension.passBeside !== undefined)) addUrlOption(command);
  command
    .option('--json', 'print the summary as JSON')
    .addOption(
      new Option('--timeout <duration>', 'end the pass after this time').argParser(duration).default(600_000, '10m'),
    )
    .option('--due-only', 'look up only the orders that are due')
    .addHelpText('after', '\nExample:\n  order-sync sync --json --timeout 2m')
    .action(async ({ json, timeout, dueOnly }: { json?: boolean; timeout: number; dueOnly?: boolean }) => {
      const config = await accountConfig(command);
      const { account } = config;
      const stop = stopSignal();
      const signal = AbortSignal.any([stop, deadline(timeout)]);
      const scope = dueOnly === true ? 'due' : 'all';
      using progress = await progressLine();
      const [load] = extensions.flatMap((extension) => extension.passBeside ?? []);
      const asked = { scope, timeoutMs: timeout, signal: stop, progress, urls: urlsOf(command) } as const;
      await using beside = await (await load?.())?.(config, asked);
      const onLog = (write: () => void) => progress.above(write);
      const drive = (app: App) => alone(app, scope, signal, progress);
      const result = await throughOwner(config, extensions, beside, drive, { signal: stop, onLog }).catch(
        (error: unknown) => {
          if (error instanceof CommandError) throw error;
          throw stop.aborted ? new CommandError(EXIT.unavailable, STOPPED, { cause: error }) : error;
        },
      );
      progress[Symbol.dispose]();
      const keyPlaceOf = urlsOf(command) === undefined ? keyPlaceByAccount(config) : undefined;
      const pass = { account, keyPlaceOf, isStopped: stop.aborted, requests: progress.latest?.requests };
      const [verdict] = extensions.flatMap((extension) => extension.syncVerdict ?? []);
      const text = (await verdict?.())?.(result, pass) ?? `the pass ended: ${result.end}`;
      printResult(result, account, pasteable(text), json);
      process.exitCode = ENDS[result.end][1];
    });
}

async function alone(app: App, scope: FollowScope, signal: AbortSignal, progress: ProgressLine): Promise<SyncResult> {
  const { withGracePeriod } = await import('../orders/pass/run.ts');
  const { syncOnce } = await import('../orders/sync.ts');
  const over = new AbortController();
  // A pause must stop the pass at once. A failure to read is ignored, because the pass then fails too.
  const watching = heedDecisions(app, over.signal).catch(() => undefined);
  try {
    return await withGracePeriod(app, signal, () =>
      syncOnce(app, scope, signal, (counts, requests) => progress.show({ counts, requests })),
    );
  } finally {
    over.abort();
    await watching;
  }
}

async function heedDecisions({ store, restraints }: App, over: AbortSignal): Promise<void> {
  for await (const _ of store.changes(over)) await restraints.read();
}

function printResult({ summary, end, holds }: SyncResult, account: string, text: string, json: boolean | undefined) {
  const screen = screenOf();
  const { durationMs, ...counts } = summary;
  const fields = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => ({ label: name.replace(/[A-Z]/, (letter) => ` ${letter.toLowerCase()}`), value: count }));
  const took = { label: 'took', value: `${(durationMs / 1_000).toFixed(1)} s` };
  const verdict = toned(ENDS[end][0], wrapped(text, screen.width), screen);
  const shown = `${verdict}\n\n${fieldsText([...fields, took], screen)}`;
  process.stdout.write(json === true ? `${JSON.stringify({ ...summary, holds })}\n` : shown);
  if (json === true && end !== 'done') process.stderr.write(`${text}\n`);
  for (const hold of holds) process.stderr.write(`${printable(pasteable(describeRestraint(hold, account)))}\n`);
}
