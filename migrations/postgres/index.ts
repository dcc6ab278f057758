import type { Migrations } from '../index.ts';
import { up as initial } from './0001_initial.ts';
import { up as deliveries } from './0002_webhook_deliveries.ts';
import { up as notify } from './0003_notify.ts';
import { up as idempotentRequests } from './0004_idempotent_requests.ts';
import { up as advertise } from './0005_advertise.ts';

/** The SHA-256 of the statements of each migration, as in `migrations/index.ts`. */
const POSTGRES_0001 = '96d9018b66d06cf68934492fca1c22c200fe9c2f5b516b52f3257b69bf8a5b17';
const POSTGRES_0002 = '2f144d9907f9cdf3ea40a265d3184a8229556aa8335f9b670b4c4b99e25d00fe';
const POSTGRES_0003 = 'bb6d741c47f1c8b5ceecb638d8e494a8aee34c89b10f5b3ccf476f0c6c654153';
const POSTGRES_0004 = '5a9a81b14870ee8acd784e6cf4d09dbd0ba997b4c6a834d4fb299a319acb9a60';
const POSTGRES_0005 = 'cbc7131e78cf151c5424324f6259c08ac80b589a16b8a91f5d9e33a09f46f08e';

/** Every migration of PostgreSQL by name, oldest first. A name, once released, is never changed or taken away. */
export const MIGRATIONS = {
  '0001_initial': { up: initial, hash: POSTGRES_0001 },
  '0002_webhook_deliveries': { up: deliveries, hash: POSTGRES_0002 },
  '0003_notify': { up: notify, hash: POSTGRES_0003 },
  '0004_idempotent_requests': { up: idempotentRequests, hash: POSTGRES_0004 },
  '0005_advertise': { up: advertise, hash: POSTGRES_0005 },
} as const satisfies Migrations;
