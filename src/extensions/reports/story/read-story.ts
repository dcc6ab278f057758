import type { AccountSettings } from '../../../settings/config.ts';
import { instantMs } from '../../../base/instant.ts';
import { PaceLearner } from '../../pace/pace.ts';
import { statusKey, statusName } from '../../pace/status.ts';
import type { PacedOrder } from '../../../orders/rules/lookup.ts';
import { isPaced } from '../../../orders/rules/states.ts';
import { ageBy } from '../../pace/stay-times.ts';
import { preOrderIdsIn } from '../../../exchange/ids.ts';
import { readRecordView } from '../../../exchange/record-view.ts';
import type { ReportDocument } from '../../documents/document.ts';
import { capitalized } from '../../../base/words.ts';
import { keptBackProblems } from '../../../accounts/problem.ts';
import type { KeptBack } from '../../health/status/status.ts';
import { storyDocument } from './document.ts';
import type { StoryEvidence, StoryPace, StorySettings } from './next.ts';
import { buildStory, type Story } from './story.ts';
import type { Store } from '../../../store/port.ts';
import { readStory, type StoryRows } from '../tables/story.ts';
import type { PaceDeps } from '../../../orders/pass/pace.ts';
import type { LearningPace } from '../../pace/follow-pace.ts';
import { readHistory } from '../../pace/learn-pace.ts';

interface OrderStory {
  readonly story: Story;
  readonly document: ReportDocument;
  readonly evidence: StoryEvidence;
}

export type ReadPace = (order: StoryRows['order']) => Promise<StoryPace | undefined>;

interface StoryOptions {
  readonly asOf: Date;
  readonly readPace?: ReadPace;
  readonly olderState?: StorySettings['blocked'];
  /** The orders of the account that the database does not let its owner write, as far as is known. */
  readonly keptBack?: readonly KeptBack[];
}

export async function storyOf(
  store: Pick<Store, 'snapshot'>,
  settings: AccountSettings,
  externalOrderId: string,
  { asOf, readPace, olderState, keptBack = [] }: StoryOptions,
): Promise<OrderStory | undefined> {
  const { account, accounts, create, follow, exchange } = settings;
  const rows = await readStory(store, account, externalOrderId);
  if (rows === undefined) return undefined;
  const record = rows.record && { ...rows.record, view: readRecordView(rows.record.body) };
  const keptAnswers = rows.keptAnswers.map(({ body, ...kept }) => ({ ...kept, ids: preOrderIdsIn(body) }));
  const pace = await readPace?.(rows.order);
  const evidence = { ...rows, record, keptAnswers, ...(pace !== undefined && { pace }) };
  const isDriven = accounts.some(({ name }) => name === account);
  const ofOrder = keptBack.filter((kept) => kept.externalOrderId === externalOrderId);
  const [kept] = keptBackProblems({ account, keptBack: ofOrder });
  const blocked = olderState ?? (kept && { why: kept.text, remedy: `${capitalized(kept.remedy)}.` });
  const story = buildStory(evidence, asOf, { ...create, ...follow, isDriven, blocked });
  return { story, document: storyDocument(story, evidence, exchange), evidence };
}

export async function paceOfOrder(
  { pace, ...deps }: PaceDeps & { readonly pace: LearningPace },
  order: PacedOrder & { readonly changedAt: string | null },
  signal: AbortSignal,
): Promise<StoryPace | undefined> {
  const { changedAt: since } = order;
  const sinceMs = instantMs(since);
  if (!isPaced(order.state) || since === null || sinceMs === undefined) return undefined;
  const of = { status: statusName(order), since };
  if (pace.isEveryTick) return { kind: 'every-tick', ...of };
  const { stays: ended, from } = await readHistory(deps, signal);
  const learned = new PaceLearner(ended, from).pace(pace.limits);
  const key = statusKey(order);
  const stays = learned.statuses.find((one) => one.key === key)?.stays ?? 0;
  return { kind: 'learned', ...of, stays, halfMs: ageBy(0.5, learned.hazardsOf(key)) };
}
