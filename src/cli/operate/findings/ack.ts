import { InvalidArgumentError, type Command } from 'commander';
import { systemClock } from '../../../clock.ts';
import { printable } from '../../../reports/formats/text.ts';
import { acknowledge, findingsById, type FindingRow } from '../../../store/findings.ts';
import { listFindings } from '../../../store/listed-findings.ts';
import type { Store } from '../../../store/port.ts';
import { counted } from '../../../reports/formats/words.ts';
import { actorOf, addReasonOptions, confirm, type DecisionOptions } from '../../shared/decision.ts';
import { CommandError, EXIT } from '../../shared/exit.ts';
import { listText } from '../../shared/list.ts';
import { screenOf } from '../../shared/screen.ts';
import { withAccount } from '../../shared/store.ts';
import { addFilter, FINDING_COLUMNS, type FindingsFilter } from './filter.ts';

/** Findings that are acknowledged in one call; of them so many are shown before the question, and written in one transaction. */
const MOST_AT_ONCE = 10_000;
const MOST_SHOWN = 100;
const TOGETHER = 100;

/** The result for one finding, with the values that the person knows about. */
interface Acknowledged {
  readonly row: FindingRow;
  readonly done: boolean;
}

/** `order-sync findings ack`. */
export function define(command: Command): void {
  command.description('acknowledges open findings; they stay until they are no longer true');
  addReasonOptions(addFilter(command.argument('[id...]', 'ids of findings', ids)))
    .option('--yes', 'with --class or --severity: do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', "\nExample:\n  order-sync findings ack 12 13 --reason 'agreed with the exchange'")
    .action(async (wanted: readonly number[] = [], options: DecisionOptions & FindingsFilter) => {
      const { class: name, severity, reason, yes } = options;
      const isFiltered = name !== undefined || severity !== undefined;
      if (isFiltered === wanted.length > 0) command.error('error: give either ids, or --class or --severity');
      const actor = actorOf(options);
      await withAccount(command, 'current', async (store, { account }) => {
        const rows = isFiltered
          ? await confirmed(store, { account, class: name, severity }, yes === true)
          : await named(store, account, [...new Set(wanted)]);
        print(await acknowledgeAll(store, rows, { actor, reason }), options.json === true);
      });
    });
}

async function named(store: Store, account: string, wanted: readonly number[]): Promise<readonly FindingRow[]> {
  const rows: FindingRow[] = [];
  for (let first = 0; first < wanted.length; first += TOGETHER) {
    rows.push(...(await findingsById(store.db, account, wanted.slice(first, first + TOGETHER))));
  }
  const missing = wanted.filter((id) => !rows.some((row) => row.id === id));
  if (missing.length > 0) throw new CommandError(EXIT.absent, `there is no finding ${missing.join(', ')}`);
  return rows;
}

/** The open findings that the person agrees to acknowledge, after seeing them. */
async function confirmed(
  store: Store,
  filter: FindingsFilter & { readonly account: string },
  isAgreed: boolean,
): Promise<readonly FindingRow[]> {
  const { rows } = await listFindings(store.db, { ...filter, status: 'open', limit: MOST_AT_ONCE });
  if (rows.length === 0) process.stderr.write('there is no such open finding\n');
  if (isAgreed || rows.length === 0) return rows;
  const more = rows.length > MOST_SHOWN ? `… and ${rows.length - MOST_SHOWN} more\n` : '';
  const atMost = rows.length === MOST_AT_ONCE ? '; there may be more, run it again for the rest' : '';
  process.stderr.write(`${listText(rows.slice(0, MOST_SHOWN), FINDING_COLUMNS, screenOf(process.stderr))}${more}`);
  await confirm(`${counted(rows.length, 'finding')} would be acknowledged${atMost}. Go on? [y/N] `);
  return rows;
}

async function acknowledgeAll(
  store: Store,
  rows: readonly FindingRow[],
  by: { readonly actor: string; readonly reason: string },
): Promise<readonly Acknowledged[]> {
  const clock = systemClock();
  const all: Acknowledged[] = [];
  for (let first = 0; first < rows.length; first += TOGETHER) {
    const group = rows.slice(first, first + TOGETHER);
    const done = await store.writer.write(async (tx) => {
      const results = [];
      for (const row of group) results.push({ row, done: await acknowledge(tx, row, { ...by, now: clock.now() }) });
      return results;
    });
    all.push(...done);
  }
  return all;
}

function print(results: readonly Acknowledged[], asJson: boolean): void {
  const passedOver = results.filter(({ done }) => !done);
  const text = results.filter(({ done }) => done).map(({ row }) => acknowledgedLine(row));
  if (asJson) process.stdout.write(`${JSON.stringify(results.map(asFields), null, 2)}\n`);
  else process.stdout.write(`${text.join('')}${text.length} acknowledged\n`);
  for (const { row } of passedOver) process.stderr.write(`${row.id}: passed over, it is not open or has changed\n`);
  if (passedOver.length > 0) process.exitCode = EXIT.look;
}

function asFields({ row, done }: Acknowledged) {
  const { id, class: name, external_order_id: externalOrderId, expected, actual } = row;
  return { id, class: name, externalOrderId, expected, actual, done };
}

function acknowledgedLine(row: FindingRow): string {
  const [order, expected, actual] = [row.external_order_id, row.expected, row.actual].map(printable);
  return `${row.id} ${row.class} ${order}: ${expected} → ${actual}\n`;
}

function ids(given: string, before: readonly number[] = []): readonly number[] {
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new InvalidArgumentError('The id of a finding is a whole number.');
  return [...before, Number(given)];
}
