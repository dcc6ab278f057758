import { Argument, Option, type Command } from 'commander';
import { print, addListOptions, printList, warnOfCutList, printLong } from '../commands/print.ts';
import type { ListOptions, ListColumn } from '../commands/print.ts';
import { addOrderOptions, addPeriodOptions, examples, rowIds } from '../commands/options.ts';
import type { OrderOptions, PeriodOptions } from '../commands/options.ts';
import { withAccounts, withAccount } from '../commands/store.ts';
import { ORDER_STATES, type OrderState } from '../../orders/rules/states.ts';
import { listFindings, OPEN_PARTS, STATUSES, type ListedFinding } from './tables/listed-findings.ts';
import { systemClock } from '../../base/clock.ts';
import { printable } from '../../base/words.ts';
import type { FindingRow } from '../../store/tables/findings.ts';
import { partsOf } from '../../store/pages.ts';
import type { Store } from '../../store/port.ts';
import { actorOf, addReasonOptions, confirmShown, type DecisionOptions } from './decision-options.ts';
import { CommandError, EXIT } from '../../cli/shared/exit.ts';
import { CLASSES, classTexts } from './finding-classes.ts';
import { FINDING_CLASSES, GUESSED_CLASSES, SEVERITIES } from '../../findings/rules/classes.ts';
import type { FindingClassName, Severity } from '../../findings/rules/classes.ts';
import { fieldsText, toned, wrapped, type Screen } from '../../cli/shared/terminal.ts';
import { screenOf } from '../../cli/shared/help.ts';
import { pasteable } from '../../base/invocation.ts';
import { findingsById, acknowledge } from './tables/findings.ts';
import { counted } from '../documents/words.ts';

export const define = { list: defineList, ack: defineAck, explain: defineExplain };

interface FindingListOptions extends FindingsFilter, OrderOptions, PeriodOptions, ListOptions {
  readonly status: (typeof SHOWN_STATUSES)[number];
  readonly state?: OrderState;
}

const SHOWN_STATUSES = [...STATUSES, ...OPEN_PARTS, 'any'] as const;
const STATUS_TEXT = 'only findings of this status; decided: open, and a person has decided about the order';

function defineList(command: Command): void {
  addOrderOptions(addFilter(command))
    .addOption(new Option('--state <state>', 'only findings of orders in this state').choices(ORDER_STATES))
    .addOption(new Option('--status <status>', STATUS_TEXT).choices(SHOWN_STATUSES).default('open'));
  addListOptions(addPeriodOptions(command, 'findings first seen'))
    .addHelpText(...examples('findings list --severity error', 'findings list --pair BTC/EUR --from 2026-01-31'))
    .action(async (options: FindingListOptions) => {
      const { limit, json: _json, account: _account, status: wanted, ...filter } = options;
      const status = wanted === 'any' ? undefined : wanted;
      const { rows, isCut, ignore } = await withAccounts(command, async ({ db }, account, { reconcile }) => ({
        ...(await listFindings(db, { ...filter, account, status, limit: limit + 1 })),
        ignore: reconcile.ignore,
      }));
      const none = wanted === 'any' ? 'there is no finding' : `no finding is ${wanted}`;
      const isNarrowed = Object.keys(filter).length > 0;
      await printList(command, rows, options, FINDING_COLUMNS, isNarrowed ? 'no such finding' : none);
      if (ignore.length > 0) process.stderr.write(`reconcile.ignore turns these classes off: ${ignore.join(', ')}\n`);
      if (isCut) warnOfCutList('search older findings with --order or --class');
    });
}

const MOST_AT_ONCE = 10_000;
const TOGETHER = 100;

function defineAck(command: Command): void {
  command.description('acknowledges open findings; they stay until they are no longer true');
  addReasonOptions(addFilter(command.argument('[id...]', 'ids of findings', rowIds)))
    .option('--decided', 'only findings of orders that a person has decided about')
    .option('--yes', 'with --class, --severity or --decided: do not ask for confirmation')
    .option('--json', 'print JSON')
    .addHelpText(...examples("findings ack 12 13 --reason 'agreed with the exchange'"))
    .action(async (wanted: readonly number[] = [], options: AckOptions) => {
      const { class: name, severity, decided, reason, yes } = options;
      const isFiltered = name !== undefined || severity !== undefined || decided === true;
      if (isFiltered === wanted.length > 0) command.error('error: use either ids, or --class, --severity or --decided');
      const status = decided === true ? 'decided' : 'open';
      const filter = { class: name, severity, status, limit: MOST_AT_ONCE + 1 } as const;
      const actor = actorOf(options);
      await withAccount(command, 'current', async (store, { account }) => {
        const rows = isFiltered
          ? await confirmed(store, { ...filter, account }, yes === true)
          : await named(store, account, [...new Set(wanted)]);
        printAcknowledged(await acknowledgeAll(store, rows, { actor, reason }), options.json);
      });
    });
}

type AckOptions = DecisionOptions & FindingsFilter & { readonly decided?: boolean };

async function named(store: Store, account: string, wanted: readonly number[]): Promise<readonly FindingRow[]> {
  const rows: FindingRow[] = [];
  for (const ids of partsOf(wanted, TOGETHER)) rows.push(...(await findingsById(store.db, account, ids)));
  const missing = wanted.filter((id) => !rows.some((row) => row.id === id));
  if (missing.length > 0) throw new CommandError(EXIT.absent, `there is no finding ${missing.join(', ')}`);
  return rows;
}

async function confirmed({ db }: Store, filter: Parameters<typeof listFindings>[1], isAgreed: boolean) {
  const { rows: found, isCut } = await listFindings(db, filter);
  const rows = found.slice(0, MOST_AT_ONCE);
  const isLeft = found.length > rows.length;
  if (isLeft)
    process.stderr.write(`only the first ${MOST_AT_ONCE} are acknowledged: run the command again for the rest\n`);
  else if (isCut) warnOfCutList('acknowledge older findings by their ids, which findings list --order shows');
  else if (rows.length === 0) process.stderr.write('there is no such open finding\n');
  if (isLeft || isCut) process.exitCode = EXIT.look;
  if (isAgreed || rows.length === 0) return rows;
  const question = `${counted(rows.length, 'finding')} would be acknowledged. Continue? [y/N] `;
  await confirmShown(rows, FINDING_COLUMNS, question);
  return rows;
}

async function acknowledgeAll({ writer }: Store, rows: readonly FindingRow[], by: { actor: string; reason: string }) {
  const clock = systemClock();
  const all = [];
  for (const group of partsOf(rows, TOGETHER)) {
    const results = await writer.write((tx) =>
      Array.fromAsync(group, async (row) => ({ row, done: await acknowledge(tx, row, { ...by, now: clock.now() }) })),
    );
    all.push(...results);
  }
  return all;
}

function printAcknowledged(results: Awaited<ReturnType<typeof acknowledgeAll>>, json: boolean | undefined): void {
  const passedOver = results.filter(({ done }) => !done);
  const lines = results
    .filter(({ done }) => done)
    .map(({ row: { id, class: name, ...row } }) => {
      const [order, expected, actual] = [row.external_order_id, row.expected, row.actual].map(printable);
      return `acknowledged finding ${id} ${name} of ${row.external_order_id === null ? 'the account' : `order ${order}`}: expected ${expected}, found ${actual}\n`;
    });
  const fields = results.map(({ row: { id, class: name, expected, actual, ...row }, done }) => {
    return { id, class: name, externalOrderId: row.external_order_id, expected, actual, done };
  });
  print(json, fields, () => `${lines.join('')}${lines.length} acknowledged\n`, 2);
  for (const { row } of passedOver)
    process.stderr.write(`${row.id}: not acknowledged, it is not open or has changed\n`);
  if (passedOver.length > 0) process.exitCode = EXIT.look;
}

type FindingsFilter = Readonly<{ class?: FindingClassName | undefined; severity?: Severity | undefined }>;

function addFilter(command: Command): Command {
  return command
    .addOption(new Option('--class <class>', 'only findings of this class (see report explain)').choices(CLASSES))
    .addOption(new Option('--severity <severity>', 'only findings of this severity').choices(SEVERITIES));
}

const FINDING_COLUMNS: readonly ListColumn<ListedFinding>[] = [
  { label: 'id', kind: 'count', of: (row) => row.id },
  { label: 'severity', rank: 1, kind: 'severity', of: (row) => row.severity },
  { label: 'class', isId: true, of: (row) => row.class },
  { label: 'order', isId: true, of: (row) => row.external_order_id },
  { label: 'expected', rank: 2, of: (row) => row.expected },
  { label: 'found', rank: 2, of: (row) => row.actual },
  { label: 'first seen', kind: 'time', rank: 3, of: (row) => row.first_seen_at },
  { label: 'last seen', kind: 'time', rank: 5, of: (row) => row.last_seen_at },
  { label: 'status', rank: 4, of: (row) => (row.is_decided ? 'decided' : row.status) },
];

function defineExplain(command: Command): void {
  command
    .description('what a class of findings means and what to do about it; all classes unless one is named')
    .addArgument(new Argument('[class]').choices(CLASSES))
    .option('--json', 'print JSON')
    .addHelpText(...examples('report explain AMOUNT_MISMATCH'))
    .action(async (name: FindingClassName | undefined, { json }: { json?: boolean }) => {
      const asked = (name === undefined ? CLASSES : [name]).map((one) => ({ class: one, ...classTexts(one) }));
      await printLong(json, asked, () => (name === undefined ? everyClass(screenOf()) : explained(name, screenOf())));
    });
}

function explained(name: FindingClassName, screen: Screen): string {
  const { severity, kind, meaning, advice } = classTexts(name);
  const ends =
    kind === 'state'
      ? 'A finding of this class resolves itself when it is no longer true, and opens again if it becomes true again.'
      : 'A finding of this class reports an event. It stays open until a person acknowledges it with order-sync findings ack.';
  const guess =
    'This class is a guess about the exchange. If your exchange works differently, add the class to reconcile.ignore.';
  const lines = [meaning, `What to do: ${advice}`, ends, ...(GUESSED_CLASSES.includes(name) ? [guess] : [])];
  const text = lines.map((line) => wrapped(pasteable(line), screen.width)).join('\n');
  return `${name} (${toned(severity, severity, screen)})\n${text}\n`;
}

function everyClass(screen: Screen): string {
  const widest = Math.max(...CLASSES.map(({ length }) => length));
  const parts = SEVERITIES.map((severity) => {
    const classes = CLASSES.filter((name) => FINDING_CLASSES[name].severity === severity);
    const fields = classes.map((name) => ({ label: name, value: classTexts(name).meaning }));
    return `${toned(severity, severity, screen)}\n${fieldsText(fields, screen, widest)}\n`;
  });
  return `${parts.join('')}${pasteable('What to do about one: order-sync report explain CLASS')}\n`;
}
