import { accountsIn } from '../../commands/tables/accounts.ts';
import { sql, type Generated, type Insertable, type Selectable } from 'kysely';
import type { PurgeQuery } from '../../../daemon.ts';
import type { KnownToken } from '../photo.ts';
import { insertHappenings } from '../../../store/tables/events.ts';
import { listAccounts, newestFirst, type ListQuery, type OfAccount } from '../../operate/tables/listed.ts';
import type { Database, Transaction } from '../../../store/port.ts';

/** One delivery that was asked for (§4.5), known by the SHA-256 of its token. */
interface PhotoTokensTable {
  account: string;
  token_hash: string;
  /** The random id that `idv photos` prints, which reveals nothing of the token. */
  request_id: string;
  link_id: string;
  level: string;
  action_id: string | null;
  created_at: string;
  expires_at: string;
  /** The delivery that used the token; null while none has. */
  delivery: string | null;
}

/** One file that was received, and kept or refused (§6). */
interface PhotosTable extends Omit<PhotoTokensTable, 'token_hash' | 'created_at' | 'expires_at'> {
  id: Generated<number>;
  delivery: string;
  /** The name that the sender chose, for people only: control characters are escaped. */
  original_name: string;
  /** The type by the content of the file; null if it is not known. */
  type: string | null;
  size: number;
  sha256: string;
  /** Path from the folder of photos; null if the file was refused. */
  stored_name: string | null;
  received_at: string;
  /** Why the file was refused; null if it was kept. */
  refusal: string | null;
}

type PhotoRow = Selectable<PhotosTable>;

function withPhotos(db: Database) {
  return db.withTables<{ photos: PhotosTable; photo_tokens: PhotoTokensTable }>();
}

type OfLink = ListQuery & { readonly linkId: string | undefined };

export type NewPhoto = Omit<Insertable<PhotosTable>, 'id'>;

export async function keepPhotoToken(tx: Transaction, token: Omit<PhotoTokensTable, 'delivery'>): Promise<void> {
  await withPhotos(tx)
    .insertInto('photo_tokens')
    .values({ ...token, delivery: null })
    .execute();
}

export async function forgetPhotoToken(tx: Transaction, account: string, tokenHash: string): Promise<void> {
  await withPhotos(tx)
    .deleteFrom('photo_tokens')
    .where((token) => token.and({ account, token_hash: tokenHash, delivery: null }))
    .execute();
}

export type PhotoToken = KnownToken & Omit<PhotoTokensTable, 'token_hash' | 'created_at' | 'expires_at'>;

/** Reads a token of any account by its hash. The time of the look-up reveals nothing about the token. */
export async function readPhotoToken(db: Database, tokenHash: string) {
  const row = await withPhotos(db)
    .selectFrom('photo_tokens')
    .selectAll()
    .where('token_hash', '=', tokenHash)
    .orderBy('created_at')
    .limit(1)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const stored = row.delivery === null ? undefined : await photosOfDelivery(db, row.delivery);
  return { ...row, expiresAt: new Date(row.expires_at), stored: stored?.map(({ sha256 }) => sha256) };
}

export async function recordDelivery(
  tx: Transaction,
  { account, tokenHash, delivery }: { account: string; tokenHash: string; delivery: string },
  photos: readonly NewPhoto[],
): Promise<void> {
  await withPhotos(tx)
    .updateTable('photo_tokens')
    .set({ delivery })
    .where((token) => token.and({ account, token_hash: tokenHash, delivery: null }))
    .execute();
  for (const photo of photos) await withPhotos(tx).insertInto('photos').values(photo).execute();
  const [first] = photos;
  if (first === undefined) return;
  const event = { account, type: 'photos', subject: first.link_id, field: first.level, source: 'delivery' } as const;
  const values = { old_value: first.request_id, new_value: delivery };
  await insertHappenings(tx, [{ ...event, ...values }], new Date(first.received_at));
}

export async function photosOfDelivery(db: Database, delivery: string): Promise<PhotoRow[]> {
  return await withPhotos(db).selectFrom('photos').selectAll().where('delivery', '=', delivery).orderBy('id').execute();
}

export async function listPhotos(db: Database, query: OfLink): Promise<readonly PhotoRow[]> {
  const newest = (one: PhotoRow, other: PhotoRow) => other.id - one.id;
  const list = async ({ account, linkId, limit }: OfAccount<OfLink>) => {
    let rows = withPhotos(db).selectFrom('photos').selectAll().where('account', '=', account);
    if (linkId !== undefined) rows = rows.where('link_id', '=', linkId);
    return { rows: await rows.orderBy('id', 'desc').limit(limit).execute(), isCut: false };
  };
  return (await listAccounts(query, () => accountsIn(db, 'photos'), list, newest)).rows;
}

export async function photosBefore(db: Database, query: PurgeQuery) {
  return await withPhotos(db)
    .selectFrom('photos')
    .select(['id', 'stored_name'])
    .where('account', '=', query.account)
    .where('received_at', '<', query.before.toISOString())
    .orderBy('received_at')
    .orderBy('id')
    .limit(query.limit)
    .execute();
}

export async function deletePhotos(tx: Transaction, account: string, ids: readonly number[]): Promise<void> {
  await withPhotos(tx).deleteFrom('photos').where('account', '=', account).where('id', 'in', ids).execute();
}

const AWAITED = ['account', 'request_id', 'link_id', 'level', 'action_id', 'created_at', 'expires_at'] as const;
type AwaitedDelivery = Pick<PhotoTokensTable, (typeof AWAITED)[number]>;

/** Lists the deliveries that were asked for and have not come, of all links or of one, the newest first. */
export async function listAwaited(db: Database, query: OfLink): Promise<readonly AwaitedDelivery[]> {
  const compare = (one: AwaitedDelivery, other: AwaitedDelivery) => newestFirst(one.created_at, other.created_at);
  const list = async ({ account, linkId, limit }: OfAccount<OfLink>) => {
    let rows = withPhotos(db)
      .selectFrom('photo_tokens')
      .select(AWAITED)
      .where('account', '=', account)
      .where('delivery', 'is', null);
    if (linkId !== undefined) rows = rows.where('link_id', '=', linkId);
    return { rows: await rows.orderBy('created_at', 'desc').limit(limit).execute(), isCut: false };
  };
  return (await listAccounts(query, () => accountsIn(db, 'photo_tokens'), list, compare)).rows;
}

/** Deletes tokens that expired unused before `expiredBefore`, and used ones whose files are all gone. */
export async function forgetSpentTokens(tx: Transaction, account: string, expiredBefore: Date): Promise<void> {
  const spent = sql`delete from photo_tokens where account = ${account}
    and case when delivery is null then expires_at <= ${expiredBefore.toISOString()} else not exists
      (select 1 from photos where photos.account = ${account} and photos.delivery = photo_tokens.delivery) end`;
  await spent.execute(tx);
}
