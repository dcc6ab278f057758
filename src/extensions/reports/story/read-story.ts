import type { AccountSettings } from '../../../settings/config.ts';
import type { ReportDocument } from '../../documents/document.ts';
import { storyDocument } from './document.ts';
import { isNewest, type Spacing, type StorySettings } from './next.ts';
import { buildStory, type Story } from './story.ts';
import type { Store } from '../../../store/port.ts';
import { readStory, type StoryEvidence } from '../tables/story.ts';

interface OrderStory {
  readonly story: Story;
  readonly document: ReportDocument;
  readonly evidence: StoryEvidence;
}

interface StoryOptions {
  readonly asOf: Date;
  readonly readSpacing?: () => Promise<Spacing | undefined>;
  readonly blocked?: StorySettings['blocked'];
}

export async function storyOf(
  store: Pick<Store, 'snapshot'>,
  { account, accounts, create, follow, exchange }: AccountSettings,
  externalOrderId: string,
  { asOf, readSpacing, blocked }: StoryOptions,
): Promise<OrderStory | undefined> {
  const evidence = await readStory(store, account, externalOrderId);
  if (evidence === undefined) return undefined;
  const isDriven = accounts.some(({ name }) => name === account);
  const spacing = isNewest({ ...evidence, asOf }) ? await readSpacing?.() : undefined;
  const story = buildStory(evidence, asOf, { ...create, ...follow, isDriven, blocked, spacing });
  return { story, document: storyDocument(story, evidence, exchange), evidence };
}
