import type { Query } from './dialect.ts';
import type { Snapshot, Store } from './port.ts';

export async function allRows<Row>(snapshot: Snapshot, query: Query<Row>): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const page of snapshot.pages(query)) rows.push(...page);
  return rows;
}

export async function rowsAtOnce<Row>(store: Pick<Store, 'snapshot'>, query: Query<Row>): Promise<Row[]> {
  await using snapshot = await store.snapshot();
  return await allRows(snapshot, query);
}
