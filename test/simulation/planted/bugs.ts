import { readFileSync } from 'node:fs';
import type { PlantedBug } from './bug.ts';
import { ACCOUNT_BUGS } from './bugs/accounts.ts';
import { CREATE_BUGS } from './bugs/create.ts';
import { EXCHANGE_BUGS } from './bugs/exchange.ts';
import { FAIL_OVER_BUGS } from './bugs/fail-over.ts';
import { FOLLOW_BUGS } from './bugs/follow.ts';
import { OWNER_BUGS } from './bugs/owner.ts';
import { RESTORE_BUGS } from './bugs/restore.ts';
import { STORE_BUGS } from './bugs/store.ts';
import { WEBHOOK_BUGS } from './bugs/webhooks.ts';
import { WORKER_BUGS } from './bugs/workers.ts';

/** Every bug that is planted. */
export const BUGS: readonly PlantedBug[] = [
  ...CREATE_BUGS,
  ...FOLLOW_BUGS,
  ...EXCHANGE_BUGS,
  ...OWNER_BUGS,
  ...ACCOUNT_BUGS,
  ...STORE_BUGS,
  ...RESTORE_BUGS,
  ...FAIL_OVER_BUGS,
  ...WEBHOOK_BUGS,
  ...WORKER_BUGS,
];

/** The first seed that catches each, by its name; `npm run planted -- --find` writes it. */
export const SEEDS = JSON.parse(readFileSync(new URL('seeds.json', import.meta.url), 'utf8')) as Record<
  string,
  number | undefined
>;
