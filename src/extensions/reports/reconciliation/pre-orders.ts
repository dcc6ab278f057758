import type { FindingClassName } from '../../../findings/rules/classes.ts';
import type { Finding } from '../../../findings/rules/finding.ts';
import type { Supplement } from './verdict.ts';
import { nextPreOrders, ordersWithFinding, type PreOrderRow, type ReportScope } from '../tables/reconciliation.ts';
import { pagesAfter, rowsAtOnce } from '../../../store/pages.ts';
import type { Store } from '../../../store/port.ts';
import { forEachConcurrently } from '../../../orders/pass/run.ts';
import { sentOrderOf } from '../../../store/orders/order-columns.ts';
import { recordFindings, type JudgedFindings } from '../../../findings/record-findings.ts';
import { comparePreOrder } from '../../../findings/rules/compare.ts';
import { readPreOrderBody } from '../../../exchange/record-view.ts';
import { counted } from '../../documents/words.ts';

export type PreOrderAnswer = Readonly<{ kind: 'known'; body: string } | { kind: 'missing' | 'unanswered' }>;

type AskedPreOrders = Awaited<ReturnType<typeof askPreOrders>>;
type JudgedPreOrder = Pick<JudgedFindings, 'found' | 'classes'> & { readonly externalOrderId: string };

const CLASSES: readonly FindingClassName[] = ['PREORDER_MISSING', 'PREORDER_ECHO_MISMATCH', 'PREORDER_TOKEN_MISMATCH'];
const PAGE = 500;
const CONCURRENCY = 8;
/** After this number of unanswered requests in a row, no request follows: the exchange counts as out of reach. */
const MOST_UNANSWERED = 40;

/** Asks the exchange for every pre-order of the scope. Reads pages, because one snapshot would stay open for hours. */
export async function askPreOrders(
  store: Pick<Store, 'snapshot'>,
  scope: ReportScope,
  ask: (preOrderId: string) => Promise<PreOrderAnswer> | PreOrderAnswer,
  onProgress: (asked: number) => void,
) {
  // A pre-order with stored findings is added even without new findings, so that its stored findings are resolved.
  const judged: JudgedPreOrder[] = [];
  const stored = await rowsAtOnce(store, ordersWithFinding(scope.account, CLASSES), 'primary');
  const withFindings = new Set(stored.map((row) => row.external_order_id));
  const counts = { asked: 0, unanswered: 0, missing: 0, differing: 0 };
  let inARow = 0;
  await forEachConcurrently(preOrdersOf(store, scope), CONCURRENCY, async (row) => {
    const answer = inARow < MOST_UNANSWERED ? await ask(row.pre_order_id ?? '') : ({ kind: 'unanswered' } as const);
    counts.asked += 1;
    inARow = answer.kind === 'unanswered' ? inARow + 1 : 0;
    const one = judge(row, answer, scope);
    if (one === undefined) counts.unanswered += 1;
    else if (one.found.length > 0 || withFindings.has(one.externalOrderId)) judged.push(one);
    if (answer.kind === 'missing') counts.missing += 1;
    else if (one !== undefined && one.found.length > 0) counts.differing += 1;
    onProgress(counts.asked);
  });
  return { ...counts, judged };
}

export async function recordPreOrderFindings(store: Store, account: string, asked: AskedPreOrders, now: Date) {
  for (const { externalOrderId, found, classes } of asked.judged) {
    await store.writer.write((tx) => recordFindings(tx, { account, externalOrderId }, { found, classes, now }));
  }
}

export function preOrderSupplement({ asked, unanswered, missing, differing }: AskedPreOrders): Supplement {
  const because = `pre-orders not answered: ${unanswered}`;
  const reason = `The exchange did not answer about ${counted(unanswered, 'pre-order')}. Make the report again when it answers.`;
  return {
    facts: [
      { key: 'pre_orders_asked', label: 'Pre-orders asked for', value: asked },
      { key: 'pre_orders_missing', label: 'Pre-orders missing', value: missing },
      { key: 'pre_orders_differing', label: 'Pre-orders that differ', value: differing },
      { key: 'pre_orders_unanswered', label: 'Pre-orders not answered', value: unanswered },
    ],
    sections: [],
    problems: unanswered === 0 ? [] : [{ because, reason, tone: 'warning' }],
  };
}

/** Returns undefined if the answer is neither the pre-order of the request (§4.10) nor a 404. */
function judge(row: PreOrderRow, answer: PreOrderAnswer, { ignore = [] }: ReportScope): JudgedPreOrder | undefined {
  const { external_order_id: externalOrderId, pre_order_id: preOrderId } = row;
  if (answer.kind === 'unanswered') return undefined;
  if (answer.kind !== 'known') {
    const expected = `pre-order ${preOrderId}`;
    const found: Finding = { class: 'PREORDER_MISSING', expected, actual: 'the exchange does not know it (404)' };
    return { externalOrderId, found: [found], classes: ['PREORDER_MISSING'] };
  }
  const preOrder = readPreOrderBody(answer.body);
  if (preOrder?.id !== preOrderId || preOrder?.externalOrderId !== externalOrderId) return undefined;
  const differences = comparePreOrder(sentOrderOf(row), preOrder, preOrder.exchangeType);
  return { externalOrderId, found: differences.filter(({ class: name }) => !ignore.includes(name)), classes: CLASSES };
}

async function* preOrdersOf(store: Pick<Store, 'snapshot'>, scope: ReportScope): AsyncGenerator<PreOrderRow> {
  const next = (last?: PreOrderRow) => rowsAtOnce(store, nextPreOrders(scope, last, PAGE), 'primary');
  for await (const page of pagesAfter(PAGE, next)) yield* page;
}
