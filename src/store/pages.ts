import type { Query } from './dialect.ts';
import type { Snapshot, Store } from './port.ts';

/** Yields pages of `limit` rows, until a page has fewer. `read` receives the last row of the page before. */
export async function* pagesAfter<Row>(limit: number, read: (last: Row | undefined) => Promise<readonly Row[]>) {
  for (let [last, isLast]: [Row | undefined, boolean] = [undefined, false]; !isLast;) {
    const page = await read(last);
    yield page;
    last = page.at(-1);
    isLast = page.length < limit;
  }
}

export function* partsOf<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}

export async function allRows<Row>(snapshot: Snapshot, query: Query<Row>): Promise<Row[]> {
  return (await Array.fromAsync(snapshot.pages(query))).flat();
}

export async function rowsAtOnce<Row>(store: Pick<Store, 'snapshot'>, query: Query<Row>, of?: 'primary') {
  await using snapshot = await store.snapshot(of);
  return await allRows(snapshot, query);
}
