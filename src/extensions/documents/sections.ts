import { accountWords } from '../../accounts/rules/name.ts';
import { saysNothing } from './document.ts';
import type { Column, Fact, GroupHead, Groups, ReportDocument, Row, Section, Verdict } from './document.ts';

/** All shown rows are in memory while columns are measured, and a person reads no more rows. */
const MOST_ROWS = 1_000;

export type ReadSection = Awaited<ReturnType<typeof readSection>> & { readonly id?: string };

/**
 * Reads all rows of a section, and keeps at most `MOST_ROWS`. With `hasHeads`, `section.groups` groups the rows, and a
 * group keeps at most `mostOfGroup` rows. Omits columns that the headings show, and empty columns after the first.
 */
export async function readSection(section: Section, hasHeads: boolean, mostOfGroup = Infinity) {
  const { columns: all, rows, rowsForPeople = rows } = section;
  const by = hasHeads ? section.groups : undefined;
  const columns = all.filter(({ key, isForPrograms }) => isForPrograms !== true && by?.says.includes(key) !== true);
  const silent = new Set(columns.slice(1));
  const groups: { readonly head: GroupHead | null; readonly rows: Row[]; count: number }[] = [];
  let [count, shown] = [0, 0];
  let last: string | undefined;
  for await (const row of rowsForPeople) {
    const value = by === undefined ? '' : groupOf(row, by);
    // After `MOST_ROWS` rows the last group counts all further rows, because there may be many groups.
    if (groups.length === 0 || (value !== last && shown < MOST_ROWS)) {
      groups.push({ head: by?.describe(row) ?? null, rows: [], count: 0 });
      last = value;
    }
    const group = groups.at(-1)!;
    count += 1;
    group.count += 1;
    if (shown < MOST_ROWS && (by === undefined || group.rows.length < mostOfGroup)) {
      group.rows.push(row);
      shown += 1;
    }
    for (const column of silent) if (!saysNothing(row[column.key] ?? null, column)) silent.delete(column);
  }
  if (count === 0) silent.clear();
  return { section, columns: columns.filter((column) => !silent.has(column)), silent: [...silent], groups, count };
}

export function groupOf(row: Row, { says }: Groups): string {
  return JSON.stringify(says.map((key) => row[key]));
}

export function firstText({ verdict }: ReportDocument): string | null {
  const { title, advice } = verdict?.first?.head ?? {};
  return title === undefined ? null : `Begin with: ${title}. ${advice ?? ''}`.trim();
}

export function factSection({ facts }: ReportDocument): Section {
  const columns: readonly Column[] = [
    { key: 'fact', label: 'Name', kind: 'text' },
    { key: 'value', label: 'Value', kind: 'text' },
    { key: 'label', label: 'Meaning', kind: 'text' },
  ];
  const rows = facts.map(({ key, ...fact }) => ({ fact: key, ...fact }));
  return { name: 'facts', title: 'About this report', isForPrograms: true, columns, rows };
}

/** A report shows these facts at the top, because they name its subject. Other facts are at the end. */
const SCOPE_FACTS: readonly string[] = ['period', 'from', 'to', 'as_of', 'asOf', 'account'];
const VERDICT_FACTS: readonly string[] = ['verdict', 'because'];

export function scopeFacts({ facts }: ReportDocument): readonly Fact[] {
  return SCOPE_FACTS.flatMap((scopeKey) => facts.filter(({ key, value }) => key === scopeKey && value !== null));
}

export function otherFacts({ facts, verdict }: ReportDocument): readonly Fact[] {
  const elsewhere = verdict === undefined ? SCOPE_FACTS : [...SCOPE_FACTS, ...VERDICT_FACTS];
  return facts.filter(({ key, value }) => value !== null && !elsewhere.includes(key));
}

/** A report covers the time from `from` until just before `to`, and all accounts if `account` is undefined. */
export interface ReportScope {
  readonly account: string | undefined;
  readonly by?: 'insertion' | 'completion' | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** `--allow-empty`: true if an empty period is correct. */
  readonly mayBeEmpty?: boolean | undefined;
}

export function accountFact(account: string | undefined): Fact {
  return { key: 'account', label: 'Account', value: account ?? 'all' };
}

export function periodFacts({ by, from, to }: ReportScope): readonly Fact[] {
  const verb = by === 'completion' ? 'Completed' : 'Inserted';
  return [
    { key: 'period', label: 'Period', value: from === undefined && to === undefined ? 'all orders' : null },
    { key: 'from', label: `${verb} from`, value: from ?? null },
    { key: 'to', label: `${verb} before`, value: to ?? null },
  ];
}

export function accountColumns(account: string | undefined): readonly Column[] {
  return account === undefined ? [{ key: 'account', label: 'Account', kind: 'text' }] : [];
}

/** Returns `accountWords` for the account of a report. For a report of all accounts, `NAME` stands for the name. */
export function accountAdvice(account: string | undefined): string {
  return account === undefined ? ' --account NAME' : accountWords(account);
}

export function emptyVerdict(noun: string, text: string, mayBeEmpty = false): Verdict {
  if (mayBeEmpty) return { tone: 'neutral', text, reasons: [] };
  const reason = `No ${noun} is in the period: look at --from and --to, or use --allow-empty if an empty period is correct.`;
  return { tone: 'warning', text, reasons: [reason], isEmpty: true };
}
