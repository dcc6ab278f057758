import { sql } from 'kysely';
import type { PurgeQuery } from '../../commands/purges.ts';
import type { KnownToken } from '../photo.ts';
import { insertHappenings } from '../../../store/tables/events.ts';
import { listNewest, type ListQuery } from '../../operate/tables/listed.ts';
import { allOf } from '../../../store/dialect.ts';
import type { Database, Transaction } from '../../../store/port.ts';

/** A request for a delivery (§4.5). `token_hash` is the SHA-256 of the token in the request. */
interface PhotoTokenRow {
  readonly account: string;
  readonly token_hash: string;
  /** A random id, which `idv photos` prints. The id reveals nothing of the token. */
  readonly request_id: string;
  readonly link_id: string;
  readonly level: string;
  readonly action_id: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  /** The delivery that used the token; null while the token is unused. */
  readonly delivery: string | null;
}

type OfToken = Omit<PhotoTokenRow, 'token_hash' | 'created_at' | 'expires_at'>;
export type PhotoToken = KnownToken & OfToken;
type NewToken = Omit<PhotoTokenRow, 'delivery'>;

/** A received file (§6), kept or refused. */
interface PhotoRow extends OfToken {
  readonly id: number;
  readonly delivery: string;
  /** The name that the sender chose, for people only: control characters are escaped. */
  readonly original_name: string;
  /** The type that `photoType` found; null if the type is unknown. */
  readonly type: string | null;
  readonly size: number;
  readonly sha256: string;
  /** Path from the folder of photos; null if the file was refused. */
  readonly stored_name: string | null;
  readonly received_at: string;
  /** Why the file was refused; null if it was kept. */
  readonly refusal: string | null;
}

export type NewPhoto = Omit<PhotoRow, 'id'>;

const withPhotos = (db: Database) => db.withTables<{ photos: NewPhoto; photo_tokens: NewToken }>();

export async function keepPhotoToken(tx: Transaction, token: NewToken): Promise<void> {
  await withPhotos(tx).insertInto('photo_tokens').values(token).execute();
}

export async function forgetPhotoToken(tx: Transaction, account: string, tokenHash: string): Promise<void> {
  await sql`delete from photo_tokens where ${isUnused(account, tokenHash)}`.execute(tx);
}

const isUnused = (account: string, tokenHash: string) =>
  sql`account = ${account} and token_hash = ${tokenHash} and delivery is null`;

/** Reads a token of any account by its hash, so that the time of the query reveals nothing about the token. */
export async function readPhotoToken(db: Database, tokenHash: string) {
  const ofHash = sql<PhotoTokenRow>`select * from photo_tokens where token_hash = ${tokenHash} order by created_at limit 1`;
  const [row] = (await ofHash.execute(db)).rows;
  if (row === undefined) return undefined;
  const stored = row.delivery === null ? undefined : await photosOfDelivery(db, row.delivery);
  return { ...row, expiresAt: new Date(row.expires_at), stored: stored?.map(({ sha256 }) => sha256) };
}

export async function recordDelivery(
  tx: Transaction,
  { account, tokenHash, delivery }: { account: string; tokenHash: string; delivery: string },
  photos: readonly NewPhoto[],
): Promise<void> {
  await sql`update photo_tokens set delivery = ${delivery} where ${isUnused(account, tokenHash)}`.execute(tx);
  for (const photo of photos) await withPhotos(tx).insertInto('photos').values(photo).execute();
  const [first] = photos;
  if (first === undefined) return;
  const event = { account, type: 'photos', subject: first.link_id, field: first.level, source: 'delivery' } as const;
  const values = { old_value: first.request_id, new_value: delivery };
  await insertHappenings(tx, [{ ...event, ...values }], new Date(first.received_at));
}

export async function photosOfDelivery(db: Database, delivery: string): Promise<readonly PhotoRow[]> {
  return (await sql<PhotoRow>`select * from photos where delivery = ${delivery} order by id`.execute(db)).rows;
}

/** If `linkId` is undefined, rows of all links are listed. */
type OfLink = ListQuery & { readonly linkId?: string | undefined };

const isOf = (account: string, linkId: string | undefined) =>
  allOf(sql`account = ${account}`, linkId === undefined ? undefined : sql`link_id = ${linkId}`);

export async function listPhotos(db: Database, { linkId, ...query }: OfLink): Promise<readonly PhotoRow[]> {
  const select = ({ account, limit }: typeof query & { account: string }) =>
    sql<PhotoRow>`select * from photos where ${isOf(account, linkId)} order by id desc limit ${limit}`;
  return await listNewest(db, query, { table: 'photos', by: 'id' }, select);
}

type AwaitedDelivery = Omit<PhotoTokenRow, 'token_hash' | 'delivery'>;

/** Lists the deliveries that were asked for and have not come. */
export async function listAwaited(db: Database, { linkId, ...query }: OfLink): Promise<readonly AwaitedDelivery[]> {
  const select = ({ account, limit }: typeof query & { account: string }) => sql<AwaitedDelivery>`
    select account, request_id, link_id, level, action_id, created_at, expires_at from photo_tokens
    where ${isOf(account, linkId)} and delivery is null order by created_at desc limit ${limit}`;
  return await listNewest(db, query, { table: 'photo_tokens', by: 'created_at' }, select);
}

export type PhotoPlace = Pick<PhotoRow, 'received_at' | 'id'>;
export const FIRST_PHOTO: PhotoPlace = { received_at: '', id: 0 };

export async function photosBefore(db: Database, { account, before, limit }: PurgeQuery, from: PhotoPlace) {
  const old = sql<PhotoRow>`select * from photos where account = ${account} and received_at < ${before.toISOString()}
    and (received_at, id) > (${from.received_at}, ${from.id}) order by received_at, id limit ${limit}`;
  return (await old.execute(db)).rows;
}

export async function deletePhotos(tx: Transaction, account: string, ids: readonly number[]): Promise<void> {
  await sql`delete from photos where account = ${account} and id in (${sql.join(ids)})`.execute(tx);
}

/** Deletes unused tokens that expired by `expiredBefore`, and used tokens without rows in `photos`. */
export async function deleteStaleTokens(tx: Transaction, account: string, expiredBefore: Date): Promise<void> {
  const stale = sql`delete from photo_tokens where account = ${account}
    and case when delivery is null then expires_at <= ${expiredBefore.toISOString()} else not exists
      (select 1 from photos where photos.account = ${account} and photos.delivery = photo_tokens.delivery) end`;
  await stale.execute(tx);
}
