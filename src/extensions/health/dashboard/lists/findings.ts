import { accountWords } from '../../../../accounts/rules/name.ts';
import { shellWord } from '../../../../base/text.ts';
import { counted } from '../../../../base/words.ts';
import { FINDING_CLASSES, SEVERITIES, type FindingClassName } from '../../../../findings/rules/classes.ts';
import { readPair } from '../../../documents/commands/options.ts';
import { toneOf, type Column } from '../../../documents/document.ts';
import { proseText } from '../../../documents/html/cells.ts';
import { listFindings, weightOf, type FindingPlace } from '../../../operate/tables/listed-findings.ts';
import type { OpsPages } from '../../ops/readings.ts';
import { badge, empty, rowPath, table } from '../markup.ts';
import { choicesOf, listText, PAGE_ROWS } from './list.ts';
import { choiceIn, readIn, type Query } from './query.ts';

const CLASSES = Object.keys(FINDING_CLASSES) as readonly FindingClassName[];
const STATUSES = ['open', 'acknowledged', 'resolved', 'any'] as const;
const FIELDS = [
  { name: 'status', label: 'Status', options: Object.fromEntries(STATUSES.map((one) => [one, one])) },
  { name: 'severity', label: 'Severity', options: choicesOf(SEVERITIES) },
  { name: 'class', label: 'Class', options: choicesOf(CLASSES) },
  { name: 'pair', label: 'Pair', hint: 'BTC/EUR' },
] as const;

function columnsOf(account: string | undefined, at: string): readonly Column[] {
  return [
    { key: 'order', label: 'Order', kind: 'text', href: rowPath, isCopied: true },
    ...(account === undefined ? [{ key: 'account', label: 'Account', kind: 'text' } as const] : []),
    { key: 'severity', label: 'Severity', kind: 'severity' },
    { key: 'class', label: 'Class', kind: 'text' },
    { key: 'status', label: 'Status', kind: 'text' },
    { key: 'expected', label: 'Expected', kind: 'text' },
    { key: 'actual', label: 'Found', kind: 'text' },
    { key: 'first_seen_at', label: 'First seen', kind: 'time', agesAt: at },
    { key: 'id', label: 'Id of the finding', kind: 'text' },
  ];
}

/** Writes the page of the findings that match the filter of its address, the worst first. */
export async function findingsText(
  { store, clock }: OpsPages,
  account: string | undefined,
  query: Query,
): Promise<string> {
  const status = choiceIn(query, 'status', STATUSES) ?? 'open';
  const name = choiceIn(query, 'class', CLASSES);
  const severity = choiceIn(query, 'severity', SEVERITIES);
  const pair = readIn(query, 'pair', readPair);
  const { rows, isCut } = await listFindings(store.db, {
    account,
    class: name,
    severity,
    pair,
    status: status === 'any' ? undefined : status,
    // Of all accounts the first page alone is read.
    after: account === undefined ? undefined : readIn(query, 'after', placeOf),
    limit: PAGE_ROWS + 1,
  });
  const shown = rows.slice(0, PAGE_ROWS);
  const last = rows.length > PAGE_ROWS ? shown.at(-1) : undefined;
  const about = [
    `${counted(shown.length, 'finding')}, the worst first, of one severity the newest.`,
    isCut ? 'This page looked at the newest findings of each class only: choose a class to see others.' : '',
    last !== undefined && account === undefined ? 'There are more: choose an account to see them.' : '',
  ];
  const filter = { status, class: name, severity, pair: pair && `${pair.from}/${pair.to}`, limit: '9999999' };
  const options = Object.entries(filter).flatMap(([key, value]) =>
    value === undefined ? [] : [` --${key} ${shellWord(value)}`],
  );
  const words = account === undefined ? ' --account all' : accountWords(account);
  return listText({
    path: '/findings',
    title: 'Findings',
    account,
    query: { ...query, status },
    fields: FIELDS,
    head: name === undefined ? '' : classText(name),
    about: about.filter((one) => one !== '').join(' '),
    table:
      shown.length === 0
        ? empty('No finding matches this filter.')
        : table(
            'Findings',
            columnsOf(account, clock.now().toISOString()),
            shown.map((row) => ({ ...row, order: row.external_order_id ?? 'none' })),
          ),
    next:
      account === undefined || last === undefined
        ? undefined
        : { after: `${weightOf(last.class)}-${last.id}`, label: 'Next page' },
    command: ['All findings of this filter, as JSON:', `order-sync findings list${options.join('')} --json${words}`],
  });
}

function classText(name: FindingClassName): string {
  const { severity, meaning, advice } = FINDING_CLASSES[name];
  return `<div class="panel class ${toneOf('severity', severity)}"><p>${badge(toneOf('severity', severity), name)} ${proseText(meaning)}</p>
<p><strong>What to do:</strong> ${proseText(advice)}</p></div>
`;
}

function placeOf(text: string): FindingPlace {
  const [, name, id] = /^([a-z]+)-(\d{1,15})$/.exec(text) ?? [];
  const severity = SEVERITIES.find((one) => one === name);
  if (severity === undefined) throw new Error('Go to the first page.');
  return { severity, id: Number(id) };
}
