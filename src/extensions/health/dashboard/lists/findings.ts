import { CLASSES, classTexts } from '../../../operate/finding-classes.ts';
import { SEVERITIES, type FindingClassName } from '../../../../findings/rules/classes.ts';
import { proseText } from '../../../documents/html/cells.ts';
import { listFindings, OPEN_PARTS, weightOf, type FindingPlace } from '../../../operate/tables/listed-findings.ts';
import type { OpsPages } from '../../ops/readings.ts';
import { choiceOf, listText, PAGE_ROWS, PAIR, valueIn, type Field, type Query } from './list.ts';

const FILTERS = ['open', ...OPEN_PARTS, 'acknowledged', 'resolved', 'any'] as const;
const STATUS = choiceOf('status', 'Status', FILTERS, Object.fromEntries(FILTERS.map((one) => [one, one])));
const SEVERITY = choiceOf('severity', 'Severity', SEVERITIES);
const CLASS = choiceOf('class', 'Class', CLASSES);
const AFTER: Field<FindingPlace> = { name: 'after', label: 'Page', read: placeOf };
const FIELDS = [STATUS, SEVERITY, CLASS, PAIR];

export async function findingsText({ store, clock }: OpsPages, account: string | undefined, query: Query) {
  const status = valueIn(query, STATUS) ?? 'open';
  const name = valueIn(query, CLASS);
  const { rows, isCut } = await listFindings(store.db, {
    account,
    class: name,
    severity: valueIn(query, SEVERITY),
    pair: valueIn(query, PAIR),
    status: status === 'any' ? undefined : status,
    after: account === undefined ? undefined : valueIn(query, AFTER),
    limit: PAGE_ROWS + 1,
  });
  const command = 'findings list --json --limit 9999999';
  return listText({
    noun: 'finding',
    none: 'There are no open findings.',
    account,
    query,
    fields: FIELDS,
    head: name === undefined ? '' : classText(name),
    about: ['the worst first, then the newest', isCut && 'This page looked at the newest findings of each class only.'],
    columns: [
      { key: 'severity', label: 'Severity', kind: 'severity' },
      { key: 'class', label: 'Class', kind: 'text' },
      { key: 'status', label: 'Status', kind: 'text' },
      { key: 'expected', label: 'Expected', kind: 'text' },
      { key: 'actual', label: 'Found', kind: 'text' },
      { key: 'first_seen_at', label: 'First seen', kind: 'time', agesAt: clock.now().toISOString() },
      { key: 'id', label: 'Id of the finding', kind: 'text' },
    ],
    found: rows,
    rowOf: ({ is_decided: isDecided, ...row }) => ({ ...row, status: isDecided ? 'decided' : row.status }),
    after: [(last) => `${weightOf(last.class)}-${last.id}`],
    command: ['The findings of this filter as JSON, up to 10,000 of each class:', command, { ...query, status }],
  });
}

function classText(name: FindingClassName): string {
  const { severity, meaning, advice } = classTexts(name);
  return `<div class="panel class ${severity}"><p><strong>${name}</strong> ${proseText(meaning)}</p>
<p><strong>What to do:</strong> ${proseText(advice)}</p></div>
`;
}

function placeOf(text: string): FindingPlace {
  const [, name, id] = /^([a-z]+)-(\d{1,15})$/.exec(text) ?? [];
  const severity = SEVERITIES.find((one) => one === name);
  if (severity === undefined) throw new Error('Go to the first page.');
  return { severity, id: Number(id) };
}
