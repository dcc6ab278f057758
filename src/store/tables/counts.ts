/** What an account has, as its events tell: orders by state, and open findings by class. What there is none of is left out. */
export interface Counts {
  readonly orders: Record<string, number>;
  readonly findings: Record<string, number>;
}

interface CountedEvent extends Uncounted {
  readonly type: string;
  readonly field: string;
  readonly old_value: string | null;
  readonly new_value: string | null;
}

/** What an event does not tell: an acknowledged finding that is resolved was not open. */
export interface Uncounted {
  readonly wasAcknowledged?: boolean;
}

export function countsOf(text: string): Counts {
  const { orders = {}, findings = {} } = JSON.parse(text) as Partial<Counts>;
  return { orders, findings };
}

export function countEvent({ orders, findings }: Counts, event: CountedEvent): void {
  const { type, field, old_value: from, new_value: to } = event;
  if (type === 'order' && field === 'state') {
    if (from !== null) add(orders, from, -1);
    if (to !== null) add(orders, to, 1);
  }
  if (type === 'finding.opened') add(findings, field, 1);
  if (type === 'finding.acknowledged' || (type === 'finding.resolved' && event.wasAcknowledged !== true))
    add(findings, field, -1);
}

function add(counts: Record<string, number>, name: string, more: number): void {
  const count = (counts[name] ?? 0) + more;
  if (count === 0) delete counts[name];
  else counts[name] = count;
}
