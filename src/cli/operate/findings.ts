import { InvalidArgumentError, Option, type Command } from 'commander';
import { systemClock } from '../../clock.ts';
import type { FindingStatus } from '../../domain/findings/changes.ts';
import { FINDING_CLASSES, type FindingClassName, type Severity } from '../../domain/findings/classes.ts';
import { asTable, printable } from '../../reports/formats/text.ts';
import { acknowledge, findingsById, listFindings, type FindingRow } from '../../store/findings.ts';
import type { Store } from '../../store/port.ts';
import { CommandError, EXIT } from '../exit.ts';
import { ACCOUNT, wholeNumber, withStore } from '../options.ts';
import { agreed, systemUser, text } from '../orders/decide.ts';

const CLASSES = Object.keys(FINDING_CLASSES) as readonly FindingClassName[];
const SEVERITIES = ['error', 'warning', 'info'] as const satisfies readonly Severity[];
const STATUSES = ['open', 'acknowledged', 'resolved'] as const satisfies readonly FindingStatus[];
const LIST_COLUMNS = ['id', 'class', 'severity', 'order', 'expected', 'actual', 'first seen', 'last seen', 'status'];
/** The table's layout takes time with the square of its rows. */
const MOST_IN_TABLE = 1_000;
const MOST_SHOWN = 100;
/** So many findings are acknowledged at once, and so many in one transaction. */
const MOST_AT_ONCE = 10_000;
const TOGETHER = 100;

interface Filter {
  readonly class?: FindingClassName | undefined;
  readonly severity?: Severity | undefined;
}

interface ListOptions extends Filter {
  readonly status: FindingStatus | 'any';
  readonly limit: number;
  readonly json?: boolean;
}

interface AckOptions extends Filter {
  readonly reason: string;
  readonly actor?: string;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** What became of one finding that was to be acknowledged. */
interface Acknowledged {
  readonly id: number;
  readonly class: string;
  readonly externalOrderId: string | null;
  /** The values that the person knows of. */
  readonly expected: string | null;
  readonly actual: string | null;
  readonly done: boolean;
}

/** `order-sync findings list|ack`. */
export function registerFindings(program: Command): void {
  const findings = program
    .command('findings')
    .description('what reconciliation found: look at it, say that you know')
    .addHelpText('after', '\nExample:\n  order-sync findings list --class AMOUNT_MISMATCH');
  registerList(program, findings);
  registerAck(program, findings);
}

function addFilter(command: Command): Command {
  return command
    .addOption(new Option('--class <class>', 'only findings of this class (see report explain)').argParser(className))
    .addOption(new Option('--severity <severity>', 'only findings of this severity').choices(SEVERITIES));
}

function registerList(program: Command, findings: Command): void {
  const command = addFilter(findings.command('list').description('the newest findings'));
  command
    .addOption(
      new Option('--status <status>', 'only findings that stand so').choices([...STATUSES, 'any']).default('open'),
    )
    .option('--limit <n>', `at most so many; a table has at most ${MOST_IN_TABLE}`, wholeNumber, 50)
    .option('--json', 'print JSON')
    .addHelpText('after', '\nExample:\n  order-sync findings list --severity error')
    .action(async ({ status, limit, json, ...filter }: ListOptions) => {
      if (json !== true && limit > MOST_IN_TABLE) {
        command.error(`error: a table has at most ${MOST_IN_TABLE} rows: give --json for more`);
      }
      const query = { account: ACCOUNT, ...filter, status: status === 'any' ? undefined : status, limit: limit + 1 };
      const found = await withStore(program, 'current', (store) => listFindings(store.db, query));
      const rows = found.slice(0, limit);
      process.stdout.write(json === true ? `${JSON.stringify(rows, null, 2)}\n` : asTable(asLines(rows), LIST_COLUMNS));
      if (found.length > limit) process.stderr.write(`there are more; --limit shows more than ${limit}\n`);
    });
}

function registerAck(program: Command, findings: Command): void {
  const command = findings.command('ack').argument('[id...]', 'ids of findings', ids);
  addFilter(command.description('says that a person knows of open findings; they stay until they are no longer true'))
    .addOption(new Option('--reason <text>', 'why; kept with the finding').argParser(text).makeOptionMandatory())
    .addOption(new Option('--actor <name>', 'who says so, if not the user of this system').argParser(text))
    .option('--yes', 'with --class or --severity: do not ask')
    .option('--json', 'print JSON')
    .addHelpText('after', "\nExample:\n  order-sync findings ack 12 13 --reason 'agreed with the exchange'")
    .action(async (given: readonly number[] | undefined, options: AckOptions) => {
      const wanted = given ?? [];
      const { class: name, severity, reason, yes, json } = options;
      const isFiltered = name !== undefined || severity !== undefined;
      if (isFiltered === wanted.length > 0) command.error('error: give either ids, or --class or --severity');
      if (!isFiltered && yes === true) command.error('error: --yes goes with --class or --severity');
      const actor = options.actor ?? systemUser();
      await withStore(program, 'current', async (store) => {
        const rows = isFiltered
          ? await chosen(store, { class: name, severity }, yes === true)
          : await named(store, [...new Set(wanted)]);
        tell(await acknowledgeAll(store, rows, { actor, reason }), json === true);
      });
    });
}

async function named(store: Store, wanted: readonly number[]): Promise<readonly FindingRow[]> {
  const rows: FindingRow[] = [];
  for (let first = 0; first < wanted.length; first += TOGETHER) {
    rows.push(...(await findingsById(store.db, ACCOUNT, wanted.slice(first, first + TOGETHER))));
  }
  const missing = wanted.filter((id) => !rows.some((row) => row.id === id));
  if (missing.length > 0) throw new CommandError(EXIT.look, `there is no finding ${missing.join(', ')}`);
  return rows;
}

/** What the person agrees to, having seen it. */
async function chosen(store: Store, filter: Filter, isAgreed: boolean): Promise<readonly FindingRow[]> {
  const rows = await listFindings(store.db, { account: ACCOUNT, ...filter, status: 'open', limit: MOST_AT_ONCE });
  if (rows.length === 0) process.stderr.write('there is no such open finding\n');
  if (isAgreed || rows.length === 0) return rows;
  const more = rows.length > MOST_SHOWN ? `… and ${rows.length - MOST_SHOWN} more\n` : '';
  const atMost = rows.length === MOST_AT_ONCE ? '; so many at a time, run it again for the rest' : '';
  process.stderr.write(`${asTable(asLines(rows.slice(0, MOST_SHOWN)), LIST_COLUMNS)}${more}`);
  if (!process.stdin.isTTY) {
    throw new CommandError(EXIT.usage, 'nothing was changed: there is nobody to ask; give --yes to go on');
  }
  const question = `These ${rows.length} findings would be acknowledged${atMost}. Go on? [y/N] `;
  if (await agreed(question, process.stdin, process.stderr)) return rows;
  throw new CommandError(EXIT.look, 'nothing was changed');
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
      for (const row of group) results.push(await acknowledge(tx, row, { ...by, now: clock.now() }));
      return results;
    });
    all.push(
      ...group.map((row, index) => ({
        id: row.id,
        class: row.class,
        externalOrderId: row.external_order_id,
        expected: row.expected,
        actual: row.actual,
        done: done[index] === true,
      })),
    );
  }
  return all;
}

function tell(results: readonly Acknowledged[], asJson: boolean): void {
  const passedOver = results.filter(({ done }) => !done);
  if (asJson) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
  else process.stdout.write(`${acknowledgedLines(results)}${results.length - passedOver.length} acknowledged\n`);
  for (const { id } of passedOver) process.stderr.write(`${id}: passed over, it is not open or has changed\n`);
  if (passedOver.length > 0) process.exitCode = EXIT.look;
}

/** What was acknowledged, as it stood. */
function acknowledgedLines(results: readonly Acknowledged[]): string {
  const lines = results
    .filter(({ done }) => done)
    .map((one) => {
      const [order, expected, actual] = [one.externalOrderId, one.expected, one.actual].map(printable);
      return `${one.id} ${one.class} ${order}: ${expected} → ${actual}\n`;
    });
  return lines.join('');
}

function asLines(rows: readonly FindingRow[]) {
  return rows.map((row) => ({
    id: row.id,
    class: row.class,
    severity: row.severity,
    order: row.external_order_id,
    expected: row.expected,
    actual: row.actual,
    'first seen': row.first_seen_at,
    'last seen': row.last_seen_at,
    status: row.status,
  }));
}

function className(given: string): FindingClassName {
  const found = CLASSES.find((name) => name === given);
  if (found === undefined) throw new InvalidArgumentError('order-sync report explain lists the classes.');
  return found;
}

function ids(given: string, before: readonly number[] = []): readonly number[] {
  if (!/^[1-9]\d{0,14}$/.test(given)) throw new InvalidArgumentError('The id of a finding is a whole number.');
  return [...before, Number(given)];
}
