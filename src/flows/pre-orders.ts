import type { Finding } from '../domain/reconcile.ts';
import { nextPreOrders, ordersWithFinding, type PreOrderKey, type ReportScope } from '../store/reconciliation.ts';
import { openSnapshot } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import { workThrough } from './in-hand.ts';
import { noteFindings } from './reconcile.ts';

/** What the exchange says of a pre-order (§4.10). */
export type PreOrderAnswer = 'known' | 'missing' | 'unanswered';

/** What asking for the pre-orders of a period came to. */
export interface AskedPreOrders {
  readonly asked: number;
  /** Not answered, or not asked any more when one after the other was not. */
  readonly unanswered: number;
  readonly missing: readonly PreOrderKey[];
  /** Orders whose pre-order was missing and is there again. */
  readonly foundAgain: readonly PreOrderKey[];
}

const PAGE = 500;
const IN_HAND = 8;
/** So many questions in a row without an answer: the exchange is out of reach. */
const MOST_UNANSWERED = 40;

/** Asks for every pre-order of the scope. The database is read a page at a time: asking may take hours. */
export async function askPreOrders(
  path: string,
  scope: ReportScope,
  ask: (preOrderId: string) => Promise<PreOrderAnswer>,
  onProgress: (asked: number) => void,
): Promise<AskedPreOrders> {
  const missing: PreOrderKey[] = [];
  const foundAgain: PreOrderKey[] = [];
  const missed = missedBefore(path, scope.account);
  let asked = 0;
  let unanswered = 0;
  let inARow = 0;
  await workThrough(preOrdersOf(path, scope), IN_HAND, async (key) => {
    const answer = inARow < MOST_UNANSWERED ? await ask(key.pre_order_id ?? '') : 'unanswered';
    asked += 1;
    inARow = answer === 'unanswered' ? inARow + 1 : 0;
    if (answer === 'unanswered') unanswered += 1;
    else if (answer === 'missing') missing.push(key);
    else if (missed.has(key.external_order_id)) foundAgain.push(key);
    onProgress(asked);
  });
  return { asked, unanswered, missing, foundAgain };
}

/** Writes down which pre-orders are missing, and which are no longer. */
export async function notePreOrders(
  store: Store,
  account: string,
  { missing, foundAgain }: AskedPreOrders,
  now: Date,
): Promise<void> {
  const note = async ({ external_order_id: id }: PreOrderKey, found: readonly Finding[]) =>
    await store.writer.write((tx) => noteFindings(tx, { account }, id, { found, classes: ['PREORDER_MISSING'], now }));
  for (const key of missing) {
    const expected = `pre-order ${key.pre_order_id}`;
    await note(key, [{ class: 'PREORDER_MISSING', expected, actual: 'the exchange does not know it (404)' }]);
  }
  for (const key of foundAgain) await note(key, []);
}

async function* preOrdersOf(path: string, scope: ReportScope): AsyncGenerator<PreOrderKey> {
  let last: PreOrderKey | undefined;
  for (;;) {
    const page = pageOf(path, scope, last);
    yield* page;
    last = page.at(-1);
    if (page.length < PAGE) return;
  }
}

function pageOf(path: string, scope: ReportScope, last: PreOrderKey | undefined): readonly PreOrderKey[] {
  using snapshot = openSnapshot(path);
  return [...snapshot.rows(nextPreOrders(scope, last, PAGE))];
}

function missedBefore(path: string, account: string): ReadonlySet<string | null> {
  using snapshot = openSnapshot(path);
  return new Set(
    [...snapshot.rows(ordersWithFinding(account, 'PREORDER_MISSING'))].map((row) => row.external_order_id),
  );
}
