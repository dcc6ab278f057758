import type { Extension } from './cli/extension.ts';
import { api } from './extensions/api/index.ts';
import { clients } from './extensions/clients/index.ts';
import { feed } from './extensions/feed/index.ts';
import { guard } from './extensions/guard/index.ts';
import { health } from './extensions/health/index.ts';
import { intake } from './extensions/intake/index.ts';
import { operate } from './extensions/operate/index.ts';
import { pace } from './extensions/pace/index.ts';
import { postgres } from './extensions/postgres/index.ts';
import { reports } from './extensions/reports/index.ts';
import { restore } from './extensions/restore/index.ts';
import { sandbox } from './extensions/sandbox/index.ts';
import { setup } from './extensions/setup/index.ts';
import { sweep } from './extensions/sweep/index.ts';
import { webhooks } from './extensions/webhooks/index.ts';

/** Every extension, in the order of the help. In src, only `cli.ts` imports this list. */
export const EXTENSIONS: readonly Extension[] = [
  sandbox,
  setup,
  health,
  intake,
  operate,
  reports,
  feed,
  webhooks,
  restore,
  pace,
  guard,
  postgres,
  clients,
  sweep,
  api,
];
