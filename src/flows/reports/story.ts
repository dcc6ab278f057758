import type { AccountSettings } from '../../config/config.ts';
import { preOrderIdsIn } from '../../exchange/ids.ts';
import { readRecordView } from '../../exchange/record-view.ts';
import type { ReportDocument } from '../../reports/formats/document.ts';
import { storyDocument } from '../../reports/story/document.ts';
import type { StoryEvidence } from '../../reports/story/evidence.ts';
import type { StoryPace } from '../../reports/story/pace.ts';
import type { StorySettings } from '../../reports/story/next.ts';
import { buildStory, type Story } from '../../reports/story/story.ts';
import type { Store } from '../../store/port.ts';
import { readStory, type StoryRows } from '../../store/reports/story.ts';

export interface OrderStory {
  readonly story: Story;
  readonly document: ReportDocument;
  readonly evidence: StoryEvidence;
}

/** Reads the pace at which an order is looked up; undefined where nobody tells it. */
export type ReadPace = (order: StoryRows['order']) => Promise<StoryPace | undefined>;

interface StoryOptions {
  readonly asOf: Date;
  readonly readPace?: ReadPace;
  /** Present if the database is known to be an older copy. */
  readonly olderState?: StorySettings['olderState'];
}

/** Tells the story of an order until a time; undefined where there is no such order. */
export async function storyOf(
  store: Pick<Store, 'snapshot'>,
  settings: AccountSettings,
  externalOrderId: string,
  { asOf, readPace, olderState }: StoryOptions,
): Promise<OrderStory | undefined> {
  const { account, accounts, create, follow, exchange } = settings;
  const rows = await readStory(store, account, externalOrderId);
  if (rows === undefined) return undefined;
  const record = rows.record && { ...rows.record, view: readRecordView(rows.record.body) };
  const keptAnswers = rows.keptAnswers.map(({ body, ...kept }) => ({ ...kept, ids: preOrderIdsIn(body) }));
  const pace = await readPace?.(rows.order);
  const evidence = { ...rows, record, keptAnswers, ...(pace !== undefined && { pace }) };
  const isDriven = accounts.some(({ name }) => name === account);
  const story = buildStory(evidence, asOf, { ...create, ...follow, isDriven, olderState });
  return { story, document: storyDocument(story, evidence, exchange), evidence };
}
