import { endpointsOf, type PhotoRequest } from './endpoints/endpoints.ts';
import { hash, randomBytes } from 'node:crypto';
import { stringify } from 'lossless-json';
import { accountsIn } from '../commands/tables/accounts.ts';
import type { OperationDeps } from '../../accounts/account.ts';
import type { Purge, PurgeQuery } from '../commands/purges.ts';
import { decideDelivery } from './photo.ts';
import { after } from '../../base/instant.ts';
import { hasControlCharacter } from '../../base/text.ts';
import { sumOf } from '../../base/words.ts';
import type { Reply } from '../../exchange/reply.ts';
import { UnusableIdError, pathId, unusable } from '../../exchange/ids.ts';
import * as table from './tables/photos.ts';
import { FIRST_PHOTO, type NewPhoto, type PhotoPlace, type PhotoToken } from './tables/photos.ts';
import type { FlowDeps } from '../../orders/pass/deps.ts';
import { PhotoFolder, randomName, placeOf, DeliveryRefusal, readForm } from './photo-delivery.ts';
import type { DeliveryPart, ReceivedFile } from './photo-delivery.ts';
import { clientsSettings } from './settings.ts';

const TOKEN_BYTES = 32;
const SHORTEST_TOKEN = 16;
const LONGEST_TOKEN = 1_000;
/** How long a delivery that never came stays listed after its token has expired. */
const LISTED_MS = 30 * 24 * 60 * 60_000;
const PAGE = 200;
const ACCOUNTS_LOOKED_AT = 20;

/** The receiver serves all accounts, because the token of a delivery identifies the account. */
export type DeliveryDeps = Pick<FlowDeps, 'config' | 'store' | 'clock' | 'log'>;
type PhotoDeps = DeliveryDeps & Pick<FlowDeps, 'account'>;
type PurgeDeps = Omit<DeliveryDeps, 'log'>;

/** `token` is the merchant's own token, which the delivery returns. If it is missing, a random token is made. */
type PhotosAsked = Omit<PhotoRequest, 'token'> & Readonly<{ linkId: string; token?: string | null | undefined }>;

/** Throws `UnusableIdError` if the merchant's own token cannot be used. The message never quotes the token. */
function assertUsable(token: string, isReceivedHere: boolean): void {
  if (token.trim() === '' || token.length > LONGEST_TOKEN || hasControlCharacter(token))
    throw new UnusableIdError(`a token has 1 to ${LONGEST_TOKEN} characters without control characters`);
  if (isReceivedHere && token.length < SHORTEST_TOKEN) {
    const why = 'the receiver recognizes a delivery only by its token, and a short token can be guessed';
    throw new UnusableIdError(`${why}; use a token of at least ${SHORTEST_TOKEN} characters, or none`);
  }
}

/**
 * Asks for the photos of a client (§4.5). Stores the hash of the token before the request, because the photos may
 * come before the answer. The rows of the photos have the returned `requestId`. Throws `UnusableIdError`.
 */
export async function requestPhotos(
  { account, config, store, exchange, clock, log }: PhotoDeps & Pick<OperationDeps, 'exchange'>,
  { linkId, level, actionId, token: ownToken }: PhotosAsked,
  signal?: AbortSignal,
): Promise<Reply<{ status: string; requestId: string }>> {
  // The id is stored, but an e-mail address must not be stored.
  if (linkId.includes('@')) throw unusable(linkId, 'a link id');
  pathId(linkId);
  const { photos } = clientsSettings.of(config);
  const token = ownToken ?? randomBytes(TOKEN_BYTES).toString('base64url');
  if (token === ownToken) assertUsable(token, photos.listen !== undefined);
  const tokenHash = hash('sha256', token);
  const requestId = randomName();
  const now = clock.now();
  await store.writer.write(async (tx) => {
    if (token === ownToken && (await table.readPhotoToken(tx, tokenHash)) !== undefined) {
      const why = 'this token was used before, and a token is for one delivery';
      throw new UnusableIdError(`${why}; use another token, or none`);
    }
    await table.keepPhotoToken(tx, {
      account,
      token_hash: tokenHash,
      request_id: requestId,
      link_id: linkId,
      level,
      action_id: level === 'LIVENESS' ? (actionId ?? null) : null,
      created_at: now.toISOString(),
      expires_at: after(now, photos.tokenLifetime).toISOString(),
    });
  });
  if (photos.listen === undefined) {
    log.warn({}, 'photos were requested while photos.listen is off, so they cannot arrive here');
  }
  const answer = await endpointsOf(exchange).requestPhotos(linkId, { level, actionId, token }, signal);
  // The token is kept after an unknown outcome, because the delivery may still come.
  if (answer.kind !== 'ok' && answer.kind !== 'unknown') {
    await store.writer.write((tx) => table.forgetPhotoToken(tx, account, tokenHash));
  }
  if (answer.kind !== 'ok') return answer;
  const value = { ...answer.value, requestId };
  return { ...answer, value, body: stringify(value) ?? answer.body };
}

/**
 * Stores a delivery (§6), or returns `repeated` if the same files are stored already. Files stay in quarantine until
 * their rows are committed. Throws `DeliveryRefusal`, and errors of the disk and of the database.
 */
export async function acceptDelivery(deps: DeliveryDeps, parts: AsyncIterable<DeliveryPart>) {
  const { photos } = clientsSettings.of(deps.config);
  const folder = new PhotoFolder(photos.folder);
  const delivery = randomName();
  try {
    await folder.begin(delivery);
    const form = await readForm(photos, folder, delivery, parts);
    return await record(deps, folder, delivery, form);
  } finally {
    await moveOrDiscard(deps, folder, delivery);
  }
}

/** Empties the quarantine: moves deliveries with rows, deletes the rest. Deletes stale tokens, logs missing files. */
export async function sweepPhotos(deps: DeliveryDeps): Promise<void> {
  const { config, store, clock, log } = deps;
  const folder = new PhotoFolder(clientsSettings.of(config).photos.folder);
  const left = await folder.open();
  for (const delivery of left) await moveOrDiscard(deps, folder, delivery);
  if (left.length > 0) log.warn({ deliveries: left.length }, 'interrupted photo deliveries were cleaned up');
  for (const account of await accountsIn(store.db, 'photo_tokens')) {
    const { writer } = store.forAccount(account);
    await writer.write((tx) => table.deleteStaleTokens(tx, account, after(clock.now(), -LISTED_MS)));
  }
  const missing = await countMissing(deps, folder);
  if (missing > 0) log.warn({ photos: missing }, 'photos are in the table but not in photos.folder');
}

/** Deletes photos older than `olderThanMs`. `notFound` counts rows that stay, because their files are not here. */
export async function purgePhotos(deps: PurgeDeps & Pick<PhotoDeps, 'account'>, olderThanMs: number) {
  const query = { account: deps.account, before: after(deps.clock.now(), -olderThanMs), limit: PAGE };
  let [purged, notFound] = [0, 0];
  for (let from: PhotoPlace | undefined = FIRST_PHOTO; from !== undefined;) {
    const page: Awaited<ReturnType<typeof purgePage>> = await purgePage(deps, query, from);
    [purged, notFound, from] = [purged + page.purged, notFound + page.notFound, page.next];
  }
  return { purged, notFound };
}

/** Each call begins after the page of the last call, because rows whose files are not here stay. */
export function photosPurge(deps: Omit<PurgeDeps, 'store'>): Purge['deleteSome'] {
  const places = new Map<string, PhotoPlace | undefined>();
  return async (store, query) => {
    const { purged, next } = await purgePage({ ...deps, store }, query, places.get(query.account));
    places.set(query.account, next);
    return purged;
  };
}

/** Deletes files first, and the folders of deliveries last. Without its folder a delivery may be on another machine. */
async function purgePage({ config, store, clock }: PurgeDeps, query: PurgeQuery, from = FIRST_PHOTO) {
  const folder = new PhotoFolder(clientsSettings.of(config).photos.folder);
  const page = await table.photosBefore(store.db, query, from);
  const placed = ({ link_id, delivery }: NewPhoto) => placeOf(link_id, delivery);
  const places = new Set(page.map(placed).filter((place) => folder.has(place)));
  const here = page.filter((photo) => photo.stored_name === null || places.has(placed(photo)));
  const done = { purged: here.length, notFound: page.length - here.length, next: page[query.limit - 1] };
  if (here.length === 0) return done;
  await folder.remove(storedNames(here), places);
  const ids = here.map(({ id }) => id);
  await store.writer.write(async (tx) => {
    await table.deletePhotos(tx, query.account, ids);
    await table.deleteStaleTokens(tx, query.account, after(clock.now(), -LISTED_MS));
  });
  await folder.removeEmpty(places);
  return done;
}

/** Checks only the newest photos of some accounts. A wrong folder has none of their files. */
async function countMissing({ store }: DeliveryDeps, folder: PhotoFolder): Promise<number> {
  let missing = 0;
  for (const account of (await accountsIn(store.db, 'photos')).slice(0, ACCOUNTS_LOOKED_AT)) {
    const newest = await table.listPhotos(store.db, { account, limit: PAGE });
    missing += storedNames(newest).filter((name) => !folder.has(name)).length;
  }
  return missing;
}

const storedNames = (photos: readonly { readonly stored_name: string | null }[]) =>
  photos.flatMap(({ stored_name: name }) => name ?? []);

type Form = Awaited<ReturnType<typeof readForm>>;

async function record(deps: DeliveryDeps, folder: PhotoFolder, delivery: string, { token, files }: Form) {
  const { store, clock, log } = deps;
  const tokenHash = hash('sha256', token);
  const hashes = files.map(({ sha256 }) => sha256);
  const known = await table.readPhotoToken(store.db, tokenHash);
  let decision = decideDelivery(known, hashes, clock.now());
  if (known !== undefined && decision === 'store') {
    const { account } = known;
    const rows = files.map((file) => rowOf(deps, delivery, known, file));
    await folder.prepare(delivery, placeOf(known.link_id, delivery));
    decision = await store.forAccount(account).writer.write(async (tx) => {
      // Another delivery may have used the token since the first check.
      const now = decideDelivery(await table.readPhotoToken(tx, tokenHash), hashes, clock.now());
      if (now === 'store') await table.recordDelivery(tx, { account, tokenHash, delivery }, rows);
      return now;
    });
  }
  if (known === undefined || decision === 'forbidden')
    throw new DeliveryRefusal('forbidden', 'the token is unknown, expired or used');
  const kept = files.filter(({ refusal }) => refusal === null);
  // The recorded delivery may still be in quarantine, because an earlier move may have failed.
  if (decision === 'repeated' && typeof known.delivery === 'string') {
    await moveOrDiscard(deps, folder, known.delivery);
    await folder.replaceMissing(await table.photosOfDelivery(store.db, known.delivery), delivery, kept);
  }
  const bytes = sumOf(kept, ({ size }) => size);
  const { account, request_id: requestId, link_id: linkId, level: verificationLevel } = known;
  const facts = { account, requestId, linkId, verificationLevel, files: kept.length, bytes };
  log.info(facts, decision === 'store' ? 'photos were received' : 'photos that are stored came again');
  for (const { refusal: cause } of files) {
    if (cause !== null) log.warn({ linkId, cause }, 'a file of a photo delivery was refused');
  }
  return decision === 'store' ? 'stored' : 'repeated';
}

async function moveOrDiscard({ store }: Pick<DeliveryDeps, 'store'>, folder: PhotoFolder, delivery: string) {
  const [photo] = await table.photosOfDelivery(store.db, delivery);
  if (photo === undefined) await folder.discard(delivery);
  else await folder.move(delivery, placeOf(photo.link_id, delivery));
}

function rowOf({ clock }: DeliveryDeps, delivery: string, token: PhotoToken, file: ReceivedFile): NewPhoto {
  const { account, link_id, level, action_id, request_id } = token;
  const { name, ...columns } = file;
  const stored_name = file.refusal === null ? `${placeOf(link_id, delivery)}/${name}` : null;
  const received_at = clock.now().toISOString();
  return { account, link_id, level, action_id, request_id, delivery, ...columns, stored_name, received_at };
}
