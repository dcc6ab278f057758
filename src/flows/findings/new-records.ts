import { NO_TURNS } from '../../domain/orders/record-change.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import { readAccountFact, setAccountFact } from '../../store/accounts.ts';
import { unresolvedPage } from '../../store/findings.ts';
import { readFollowed } from '../../store/orders-with-records.ts';
import { trackingOf } from '../../store/order-columns.ts';
import { forgetCompared, keepUncompared, readRecord, uncomparedIds } from '../../store/order-records.ts';
import type { Transaction } from '../../store/port.ts';
import { countFindings } from '../pass/counters.ts';
import type { FlowDeps } from '../pass/deps.ts';
import { readEvidence } from './evidence.ts';
import { judgeRecord, keepRecord, logUnjudged, type JudgeDeps } from './judge-record.ts';
import { recordFindings, type NewFindings } from './record-findings.ts';

type CompareDeps = JudgeDeps & Pick<FlowDeps, 'store' | 'clock' | 'counters' | 'log'>;

/** Orders whose records one transaction compares: other writers wait for it. */
const GROUP = 50;
const PAGE = 200;
const SETTINGS_FACT = 'reconcile.settings';

/** Compares the stored records that were never compared, or were compared under other settings than today's. */
export async function compareNewRecords(deps: CompareDeps, signal: AbortSignal): Promise<void> {
  await forgetOtherSettings(deps, signal);
  const { account, store, clock, counters, log } = deps;
  let fromId = '';
  while (!signal.aborted) {
    const ids = await uncomparedIds(store.db, { account, fromId, limit: GROUP });
    const last = ids.at(-1);
    if (last === undefined) return;
    const found = await store.writer.write(async (tx) => {
      const all = [];
      for (const id of ids) all.push(...(await compareStored(tx, deps, id, clock.now())));
      return all;
    });
    countFindings(counters, found);
    if (found.length > 0) log.warn({ findings: found.length }, 'stored records were compared and bring new findings');
    fromId = last;
    await clock.turn();
  }
}

/** Compares the stored record with its order, as if it had just come and were the first. */
async function compareStored(
  tx: Transaction,
  deps: JudgeDeps,
  externalOrderId: string,
  now: Date,
): Promise<NewFindings> {
  const { account } = deps;
  const row = await readFollowed(tx, account, externalOrderId);
  const stored = await readRecord(tx, account, externalOrderId);
  if (row === undefined || stored === undefined) return [];
  const { body, receivedAt } = stored;
  try {
    const view = readRecordView(body);
    const compared = { account, externalOrderId, body, receivedAt, comparedAt: now.toISOString(), ...NO_TURNS };
    await keepRecord(tx, compared, view, null);
    const order = trackingOf(row);
    const received = new Date(receivedAt);
    // Nothing of the record counts as compared before.
    const evidence = view && (await readEvidence(tx, { ...row, has_findings: 1 }, view, received));
    const judged = { row, view, evidence, earlier: null, before: order, after: order, receivedAt: received, now };
    const { found: foundAgain, classes } = await judgeRecord(tx, deps, judged);
    return await recordFindings(tx, deps, externalOrderId, { found: [], foundAgain, classes, now });
  } catch (error) {
    logUnjudged(deps, externalOrderId, error);
    await keepUncompared(tx, { account, externalOrderId, body, receivedAt });
    return [];
  }
}

/** Marks records as not compared when the settings of the comparison have changed since. */
async function forgetOtherSettings(deps: CompareDeps, signal: AbortSignal): Promise<void> {
  const { account, store, clock, settings } = deps;
  const { tolerance, outputPosition, finalStatuses, openStatuses, ignore } = settings;
  const given = JSON.stringify({ tolerance, outputPosition, finalStatuses, openStatuses, ignore });
  const fact = { account, name: SETTINGS_FACT, given, now: clock.now() };
  const known = await readAccountFact(store.db, fact);
  if (known === given) return;
  let fromId: string | undefined = known === undefined ? undefined : '';
  while (fromId !== undefined) {
    if (signal.aborted) return;
    const page: { account: string; fromId: string; limit: number } = { account, fromId, limit: PAGE };
    fromId = await store.writer.write((tx) => forgetCompared(tx, page));
    await clock.turn();
  }
  await resolveIgnored(deps, signal);
  if (!signal.aborted) await store.writer.write((tx) => setAccountFact(tx, fact));
}

/** Resolves the findings of ignored classes, also of orders without a record. */
async function resolveIgnored(deps: CompareDeps, signal: AbortSignal): Promise<void> {
  const { account, store, clock, settings } = deps;
  for (const name of settings.ignore) {
    for (const status of ['open', 'acknowledged']) {
      for (let fromId: number | undefined = 0; fromId !== undefined && !signal.aborted;) {
        const query = { account, class: name, status, fromId, limit: GROUP };
        const page: readonly { id: number; externalOrderId: string }[] = await unresolvedPage(store.db, query);
        await store.writer.write(async (tx) => {
          for (const { externalOrderId } of page) {
            await recordFindings(tx, deps, externalOrderId, { found: [], classes: [name], now: clock.now() });
          }
        });
        fromId = page.at(-1)?.id;
        await clock.turn();
      }
    }
  }
}
