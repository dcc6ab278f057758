import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { servePhotos, type PhotoReceiver } from '../../src/extensions/clients/photo-receiver.ts';
import { systemClock } from '../../src/base/clock.ts';
import { BOUNDARY, detailsPart, filePart, head, multipart, part } from './multipart.ts';
import { JPEG, photoProgram, type PhotoProgram } from './photo-program.ts';
import { rawClient, type RawClient } from './raw-client.ts';

/** A receiver of photos, and what it stores. */
export interface PhotoReceiverProgram extends PhotoProgram {
  readonly receiver: PhotoReceiver;
  readonly url: string;
  readonly stop: AbortController;
}

/** A receiver that listens on loopback; limits are given as in the environment. */
export async function photoReceiver(limits: Readonly<Record<string, string>> = {}): Promise<PhotoReceiverProgram> {
  const environment = Object.fromEntries(
    Object.entries(limits).map(([name, value]) => [`ORDER_SYNC_PHOTOS_${name}`, value]),
  );
  const on = await photoProgram({ environment });
  const stop = new AbortController();
  const receiver = await servePhotos(on.program.app, { host: '127.0.0.1', port: 0 }, stop.signal);
  onTestFinished(async () => {
    on.program.app.endGracePeriod();
    await receiver.close();
  });
  return { ...on, receiver, url: receiver.url, stop };
}

/** Posts a body made by hand. */
export async function post(url: string, body: Buffer, type = `multipart/form-data; boundary=${BOUNDARY}`) {
  const answer = await fetch(url, { method: 'POST', headers: { 'content-type': type }, body: new Uint8Array(body) });
  return { status: answer.status, text: await answer.text() };
}

/** Parts that are not ours. By default a delivery may have 28 parts. */
export function others(count: number): Buffer[] {
  return Array.from({ length: count }, () => part(['Content-Disposition: form-data; name="other"'], 'x'));
}

/** A connection whose request was taken: the rest of its body is awaited. */
export async function begun(url: string, length: number, first: Buffer): Promise<RawClient> {
  const client = rawClient(url);
  client.send(`${head(`content-length: ${length}`, 'expect: 100-continue')}\r\n`);
  await client.until(/^HTTP\/1\.1 100 /);
  client.send(first);
  return client;
}

/** Resolves when the receiver has begun to write a file of a delivery that is not whole yet. */
export async function fileIsOpen(on: PhotoReceiverProgram): Promise<void> {
  while (!on.files().some((path) => /^\.incoming\/[0-9a-f]+\/./.test(path))) await systemClock().turn();
}

/** The stored photos, and the files that are left over. */
export function kept(on: PhotoProgram): unknown {
  return { rows: on.rows(), files: on.files() };
}
/** `kept` of a receiver that stored nothing. */
export const NOTHING = { rows: [], files: [] };

/** Tells whether the receiver still takes right photos. */
export async function isAlive(on: PhotoReceiverProgram): Promise<boolean> {
  const before = on.rows().length;
  const token = await on.ask();
  const { status } = await post(on.url, multipart(detailsPart(token), filePart(JPEG)));
  return status === 200 && on.rows().length === before + 1;
}

/** The files that the table knows. */
export function known(on: PhotoProgram): string[] {
  return on
    .rows()
    .filter((row) => row['stored_name'] !== null)
    .map((row) => String(row['stored_name']))
    .toSorted();
}

/** The photos that are stored: name, type and bytes. */
export function stored(on: PhotoProgram): unknown[] {
  return on
    .rows()
    .map((row) => [row['original_name'], row['type'], readFileSync(join(on.folder, String(row['stored_name'])))]);
}
