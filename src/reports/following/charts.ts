import { atPart } from '../../domain/orders/pace/lookups.ts';
import { ageBy, LONGEST_MS } from '../../domain/orders/pace/stay-times.ts';
import type { Chart, Look, Span } from '../formats/document.ts';
import { counted, cut } from '../formats/words.ts';
import { weightOf, type FollowedStatus } from './statuses.ts';

/** More rows than these are a table. */
const MOST_ROWS = 8;
/** With fewer stays than these nothing is drawn of how long they took. */
const FEW_STAYS = 10;
/** A label of a drawing shows so much of a name. */
const LABEL = 21;
const LEAST_HEAD = 3;
const PLAIN: Look = { tone: 'info' };
const READING = 'The box is the middle half, the mark the median, the line from 1\u00a0% to 99\u00a0%.';

/** The statuses with most orders and stays, as rows of a chart. */
function rowsOf(statuses: readonly FollowedStatus[], note: (status: FollowedStatus) => string) {
  const hasMany = new Set(statuses.map(({ account }) => account)).size > 1;
  const most = statuses.toSorted((a, b) => weightOf(b) - weightOf(a)).slice(0, MOST_ROWS);
  const shown = statuses.filter((status) => most.includes(status));
  const names = toldApart(shown.map(({ account, name }) => (hasMany ? `${account.account}: ${name}` : name)));
  return shown.map((status, row) => ({ status, name: names[row] ?? status.name, note: note(status), look: PLAIN }));
}

/** Names that would be cut alike are cut before the part that differs. */
function toldApart(names: readonly string[]): readonly string[] {
  return names.map((name) => {
    const alike = names.filter((other) => other !== name && other.slice(0, LABEL) === name.slice(0, LABEL));
    if (alike.length === 0) return name;
    let same = LABEL;
    while (alike.every((other) => other[same] === name[same])) same += 1;
    const word = name.lastIndexOf(' ', same) + 1;
    const end = name.slice(same - word < LABEL ? word : same);
    return `${name.slice(0, Math.max(LEAST_HEAD, LABEL - end.length)).trimEnd()}… ${end}`;
  });
}

/** Names the statuses that a chart leaves out, of those that have something to show. */
function leftOut(
  statuses: readonly FollowedStatus[],
  rows: readonly { readonly status: FollowedStatus }[],
  what: string,
): string {
  const others = statuses.filter((status) => !rows.some((row) => row.status === status));
  if (others.length === 0) return '';
  const names = cut(others.map(({ name }) => name).join(', '), 120);
  return ` Left out, as a row needs ${FEW_STAYS} ${what} and there are ${MOST_ROWS} rows at most: ${names}.`;
}

/** For how long orders stay in the main statuses. */
export function stayChart(statuses: readonly FollowedStatus[]): readonly Chart[] {
  const most = rowsOf(
    statuses.filter(({ stays }) => stays >= FEW_STAYS),
    ({ stays, lookups }) =>
      lookups === undefined ? counted(stays, 'order') : `${lookups.perOrder.toFixed(1)} look-ups each`,
  );
  const rows = most.map(({ status: { hazards, lookups }, ...row }) => {
    const span = spanOf((part) => Math.min(LONGEST_MS, ageBy(part, hazards)));
    return { ...row, span, ...(lookups && { marks: lookups.agesMs.filter((ageMs) => ageMs <= span.p99) }) };
  });
  if (rows.length === 0) return [];
  const hasMarks = rows.some(({ marks }) => marks !== undefined);
  const text = `The time in a status until the next change. ${READING}${
    hasMarks ? ' The strokes below are the look-ups of an order that stays that long.' : ''
  }${leftOut(statuses, most, 'orders that left')}`;
  return [{ kind: 'spans', part: 'details', title: 'How long orders stay, and when they are looked up', text, rows }];
}

/** How late the changes of the main statuses were seen. */
export function lateChart(statuses: readonly FollowedStatus[]): readonly Chart[] {
  const most = rowsOf(
    statuses.filter(({ lateMs }) => lateMs.length >= FEW_STAYS),
    ({ lateMs }) => counted(lateMs.length, 'change'),
  );
  const rows = most.map(({ status, ...row }) => {
    const sorted = Float64Array.from(status.lateMs).toSorted();
    return { ...row, span: spanOf((part) => atPart(sorted, part)) };
  });
  const text = `From the exchange's date of a change to the look-up that saw it, by the status that it ended. ${READING}${leftOut(
    statuses.filter(({ lateMs }) => lateMs.length > 0),
    most,
    'dated changes',
  )}`;
  return rows.length === 0 ? [] : [{ kind: 'spans', part: 'details', title: 'How late changes were seen', text, rows }];
}

function spanOf(by: (part: number) => number): Span {
  return { p1: by(0.01), p25: by(0.25), p50: by(0.5), p75: by(0.75), p99: by(0.99) };
}
