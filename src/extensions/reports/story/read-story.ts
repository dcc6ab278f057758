import { describeKeptBack, stopRemedy } from '../../operate/rules/problems.ts';
import type { AccountSettings } from '../../../settings/config.ts';
import { keyPlace } from '../../../settings/settings-file.ts';
import { storyDocument } from './document.ts';
import { isNewest, type Spacing, type StorySettings } from './next.ts';
import { buildStory, type Story } from './story.ts';
import { accountWords } from '../../../accounts/rules/name.ts';
import { problem } from '../../commands/problem.ts';
import type { Clock } from '../../../base/clock.ts';
import { pasteable } from '../../../base/invocation.ts';
import { evidenceAgainstSending } from '../../operate/decide-orders.ts';
import type { FollowPace } from '../../../orders/pass/pace.ts';
import { isFinalRecord, statusName } from '../../../orders/rules/lookup.ts';
import { isPaced, isRechecked } from '../../../orders/rules/states.ts';
import { trackingOf, type OrderRow } from '../../../store/orders/order-columns.ts';
import { readOrder } from '../../../store/orders/orders.ts';
import type { Store } from '../../../store/port.ts';
import { lostReach, readStory } from '../tables/story.ts';

interface StoryOptions {
  readonly asOf: Date;
  readonly readSpacing?: (row: OrderRow) => Promise<Spacing | undefined>;
  readonly blocked?: StorySettings['blocked'];
  /** The newest reason why the exchange is out of reach. The database has only the first reason. */
  readonly failure?: string | undefined;
}

export async function storyOf(
  store: Pick<Store, 'db' | 'snapshot'>,
  { account, accounts, create, follow, exchange }: AccountSettings,
  externalOrderId: string,
  { asOf, readSpacing, blocked, failure }: StoryOptions,
) {
  const evidence = await readStory(store, account, externalOrderId);
  if (evidence === undefined) return undefined;
  const isDriven = accounts.some(({ name }) => name === account);
  const view = evidence.record?.view;
  const hasEnded = view !== undefined && isFinalRecord(view, follow);
  const row = await readOrder(store.db, account, externalOrderId);
  const spacing = row && isNewest({ ...evidence, asOf }) && !hasEnded ? await readSpacing?.(row) : undefined;
  const against = row && (await evidenceAgainstSending(store.db, row));
  const [lost] = await lostReach(store.db, account, 'exchange');
  const outage = lost && outageOf({ ...lost, reason: failure ?? lost.reason });
  // Look-ups of a held or ended order are rare, so the story tells of an outage only if a look-up is due.
  const isRare = row?.state === 'held' || isRechecked(row?.state ?? '');
  const waits = !isRare || (row?.next_action_at ?? '') <= asOf.toISOString();
  const known = { isDriven, blocked: blocked ?? (waits ? outage : undefined), spacing, against };
  const story = buildStory(evidence, asOf, { ...create, ...follow, ...known, keyPlace: keyPlace(exchange) });
  return { story, document: storyDocument(story, evidence, exchange) };
}

interface ExplainDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: AccountSettings;
  readonly paceOf: () => FollowPace | Promise<FollowPace>;
}

type OwnerNews = Pick<StoryOptions, 'failure'> & { readonly kept?: Parameters<typeof describeKeptBack>[0] | undefined };

export async function explain(deps: ExplainDeps, externalOrderId: string, asOf: Date, news: OwnerNews = {}) {
  const { kept, failure } = news;
  const readSpacing = (row: OrderRow) => spacingOf(deps, row, asOf);
  const blocked = (await olderStateOf(deps.store)) ?? (kept && describeKeptBack(kept));
  return await storyOf(deps.store, deps.settings, externalOrderId, { asOf, readSpacing, blocked, failure });
}

function outageOf({ account, since, reason }: Awaited<ReturnType<typeof lostReach>>[number]) {
  const why = `the exchange has been out of reach since ${since}${reason === null ? '' : `: ${reason}`}`;
  const end = 'order-sync continues by itself when the exchange answers again';
  return { why: `${why}. ${end}`, remedy: problem('out-of-reach', why, { group: [{ account }] }).remedy };
}

export function storyJson(story: Story) {
  return { schema: 'order-sync.story/1', ...story, next: story.next.map(pasteable) };
}

async function spacingOf({ store, clock, settings, paceOf }: ExplainDeps, row: OrderRow, asOf: Date) {
  const { account } = settings;
  const order = trackingOf(row);
  if (order.changedAt === null || !isPaced(order.state)) return undefined;
  const forMs = Math.max(0, asOf.getTime() - order.changedAt.getTime());
  const { signal } = new AbortController();
  const pace = await paceOf();
  const { kind, text, learned } = await pace.explain({ account, store, clock }, order, forMs, signal);
  return { facts: { kind, status: statusName(order), since: row.changed_at, ...learned }, text };
}

/** Also returns undefined if the mark of the database cannot be read, because a story needs no mark. */
async function olderStateOf({ mark }: Store) {
  const sign = await mark.sign().catch(() => undefined);
  if (sign === undefined) return undefined;
  const words = mark.account === undefined ? '' : accountWords(mark.account);
  return { why: `the database ${sign}`, remedy: stopRemedy('older-state', words) };
}
