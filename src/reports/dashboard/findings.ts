import { findingClass } from '../../domain/findings/classes.ts';
import { toneOf, type Column, type Row } from '../formats/document.ts';
import { proseText } from '../formats/html/text.ts';
import type { DashboardFacts } from './facts.ts';
import { badge, count, empty, orderPath, section, table } from './markup.ts';

/** The open findings: what each class means and what to do about it, and the gravest ones by name. */
export function findingsSection({ overview: { findings }, newestFindings, at }: DashboardFacts): string {
  const title = 'Open findings';
  if (findings.length === 0) return section('findings', title, empty('None: both sides agree.'), { wide: true });
  const items = findings.map(({ class: name, severity, open }) => {
    const known = findingClass(name);
    const words = known === undefined ? 'A class of another version.' : `${known.meaning} <b>${known.advice}</b>`;
    const tone = toneOf('severity', severity);
    return `<li>${badge(tone, name)} <strong>${count(open)}</strong> <span>${words}</span></li>\n`;
  });
  const rows = newestFindings.map((finding) => ({ ...finding, order: finding.externalOrderId ?? 'none' }));
  const columns: readonly Column[] = [
    { key: 'order', label: 'Order', kind: 'text', href: orderOf },
    { key: 'severity', label: 'Severity', kind: 'severity' },
    { key: 'class', label: 'Finding', kind: 'text' },
    { key: 'expected', label: 'Expected', kind: 'text' },
    { key: 'actual', label: 'Actual', kind: 'text' },
    { key: 'firstSeenAt', label: 'First seen', kind: 'time', agesAt: at },
  ];
  const list = `<ul class="panel classes">\n${items.join('')}</ul>\n`;
  return section('findings', title, `${list}${table(title, columns, rows)}`, { wide: true });
}

function orderOf({ externalOrderId = null, account = null }: Row): string | undefined {
  if (externalOrderId === null) return undefined;
  return orderPath({ externalOrderId: String(externalOrderId), account: String(account) });
}

/** An order that a search has found. */
export interface FoundOrder {
  readonly account: string;
  readonly externalOrderId: string;
  readonly state: string;
  readonly pair: string;
  readonly asset: string | null;
  readonly createdAt: string;
}

/** The orders that a search has found. */
export function foundSection(query: string, found: readonly FoundOrder[], isCut: boolean, at: string): string {
  const title = `Orders whose id begins with ${query}`;
  const rows = found.map((order) => ({ ...order }));
  const columns: readonly Column[] = [
    { key: 'externalOrderId', label: 'Order', kind: 'text', href: orderOf },
    { key: 'account', label: 'Account', kind: 'text' },
    { key: 'state', label: 'State', kind: 'state' },
    { key: 'pair', label: 'Pair', kind: 'text' },
    { key: 'asset', label: 'Amount', kind: 'decimal' },
    { key: 'createdAt', label: 'Inserted', kind: 'time', agesAt: at },
  ];
  const list =
    rows.length === 0 ? '<p class="panel empty">No order has such an id.</p>\n' : table('Orders', columns, rows);
  const more = isCut ? `<p class="note">There are more: give more of the id.</p>\n` : '';
  return `<section id="found" class="wide" aria-labelledby="found-title"><h2 id="found-title">${proseText(title)}</h2>\n${list}${more}</section>\n`;
}
