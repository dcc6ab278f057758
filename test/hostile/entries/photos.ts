import { readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { requestPhotos } from '../../../src/extensions/clients/photos.ts';
import { servePhotos } from '../../../src/extensions/clients/photo-receiver.ts';
import { BOUNDARY, detailsPart, filePart, head, multipart } from '../../support/multipart.ts';
import { JPEG } from '../../support/photo-program.ts';
import { testClock } from '../../support/test-clock.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground } from '../ground.ts';
import { answerTo, checkAnswer } from '../odd-requests.ts';
import { oddJson, oddObject, oddPlace, oddText } from '../odd.ts';
import { clientsSettings } from '../../../src/extensions/clients/settings.ts';

const MOST_TRIES = 400;
/** Stands in a delivery, with a number of six digits, for the token that was given out for it. */
const TOKEN = 'token-of-the-delivery';
const latin1 = (text: string) => Buffer.from(text).toString('latin1');
const text = (bytes: Buffer) => bytes.toString('latin1');

const details = text(detailsPart(`${TOKEN}000000`));
const file = text(filePart(JPEG));
const END = `--${BOUNDARY}--\r\n`;

const name = oddText.map((one) => latin1(one).slice(0, 3_000));
const oddPart = fc.oneof(
  { weight: 3, arbitrary: name.map((one) => text(filePart(JPEG, one))) },
  { weight: 2, arbitrary: name.map((one) => text(filePart(JPEG, 'a.jpg', one))) },
  { weight: 2, arbitrary: oddText.map((one) => text(filePart(one))) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      `--${BOUNDARY}\r\n\r\nx\r\n`,
      `--${BOUNDARY}\r\ncontent-disposition: form-data\r\n\r\nx\r\n`,
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename*=UTF-8''%ff%00..%2f\r\n\r\n${text(JPEG)}\r\n`,
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="__proto__"\r\n\r\nx\r\n`,
      `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="a\r\ncontent-transfer-encoding: base64\r\n\r\nAAAA\r\n`,
      `--${BOUNDARY}\r\n${'x: y\r\n'.repeat(3_000)}\r\nx\r\n`,
      `--${BOUNDARY}\r\nx: ${'y'.repeat(100_000)}\r\n\r\nx\r\n`,
      `--${BOUNDARY}\r\ncontent-type: multipart/mixed; boundary=${BOUNDARY}\r\n\r\n`,
      text(filePart('x'.repeat(70_000))),
      file.repeat(30),
      details.repeat(2),
    ),
  },
);
const oddDetails = oddObject({ token: `${TOKEN}000000` }).map(
  (json) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="details"\r\n\r\n${latin1(json)}\r\n`,
);
const whole = text(multipart(detailsPart(`${TOKEN}000000`), filePart(JPEG)));
const body = fc.oneof(
  { weight: 1, arbitrary: fc.constant(whole) },
  { weight: 4, arbitrary: oddPart.map((part) => details + part + END) },
  { weight: 2, arbitrary: oddPart.map((part) => part + details + file + END) },
  { weight: 3, arbitrary: oddDetails.map((part) => file + part + END) },
  { weight: 3, arbitrary: oddPlace(whole).map(latin1) },
  { weight: 1, arbitrary: oddJson.map(latin1) },
  { weight: 1, arbitrary: fc.constantFrom('', END, `${END}${END}`, `--${BOUNDARY}`, '\r\n'.repeat(20_000)) },
);
const type = fc.constantFrom(
  `multipart/form-data; boundary=${BOUNDARY}`,
  `multipart/form-data; boundary="${BOUNDARY}"`,
  'multipart/form-data',
  'multipart/form-data; boundary=',
  `multipart/form-data; boundary=${'b'.repeat(5_000)}`,
  `multipart/form-data; boundary=${BOUNDARY}; boundary=x`,
  'multipart/mixed; boundary=x',
  'application/json',
);

const delivery = fc
  .record({
    body,
    type: fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: type }),
    length: fc.oneof(
      { weight: 6, arbitrary: fc.constant('right') },
      { weight: 1, arbitrary: fc.constantFrom('more', 'less', 'huge', 'chunked') },
    ),
    path: fc.oneof(
      { weight: 9, arbitrary: fc.constant('/photos') },
      { weight: 1, arbitrary: fc.constantFrom('/', '/photos/', '/photos?x', '/%', '/../photos') },
    ),
  })
  .map((one) => {
    const length = {
      right: one.body.length,
      more: one.body.length + 9,
      less: Math.max(0, one.body.length - 9),
      huge: 2 ** 40,
    };
    const size = one.length === 'chunked' ? 'transfer-encoding: chunked' : `content-length: ${length[one.length]}`;
    const sent = head(size, 'connection: close').replace('/photos', one.path);
    const typed = one.type === undefined ? sent : sent.replace(/content-type: .*/, `content-type: ${one.type}`);
    return `${typed}\r\n${one.body}`;
  });

/** Deliveries of photos as bytes: what is stored is in the table, and nothing else is left. */
export const photos: Entry<string> = {
  name: 'photos',
  inputs: delivery,
  inputsAProgram: 200,
  async open() {
    await using undo = new AsyncDisposableStack();
    let given = 0;
    const clock = testClock(BEGINNING);
    const on = undo.use(
      await ground({
        clock,
        answer: () => ({ status: 200, body: '{"status":"ok"}' }),
        environment: { ORDER_SYNC_PHOTOS_MAX_FILE_BYTES: '64 KiB', ORDER_SYNC_PHOTOS_MAX_TOTAL_BYTES: '256 KiB' },
      }),
    );
    const stopping = new AbortController();
    const receiver = await servePhotos(on.app, { host: '127.0.0.1', port: 0 }, stopping.signal);
    undo.defer(async () => {
      stopping.abort();
      on.app.endGracePeriod();
      await receiver.close();
    });
    const to = { port: Number(new URL(receiver.url).port) };
    const { folder } = clientsSettings.of(on.config).photos;
    const stored = on.merchant.prepare('select stored_name from photos where stored_name is not null').pluck();
    const disposal = undo.move();
    return {
      async give(bytes) {
        given += 1;
        const token = TOKEN + String(given).padStart(6, '0');
        const asked = await requestPhotos(on.app, { linkId: 'l1', level: 'MAIN', token });
        if (asked.kind !== 'ok') throw new Error(`photos were not asked for: ${asked.kind}`);
        checkAnswer(await answerTo(to, bytes.replaceAll(`${TOKEN}000000`, token)));
        // Of one that was broken off the receiver hears a little later.
        for (let tries = 0; difference() !== undefined; tries += 1) {
          if (tries === MOST_TRIES) broken(difference() ?? '');
          await setTimeout(5);
        }
      },
      [Symbol.asyncDispose]: () => disposal.disposeAsync(),
    };

    /** The difference between the files and the rows; undefined if there is none. */
    function difference(): string | undefined {
      const files = filesIn(folder).join();
      const known = (stored.all() as string[]).toSorted().join();
      return files === known ? undefined : `the files are ${files}, the rows ${known}`;
    }
  },
};

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((one) => !one.isDirectory())
      .map(({ parentPath, name: own }) => `${parentPath}/${own}`.slice(folder.length + 1))
      .toSorted();
  } catch (error) {
    // One is being removed.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return ['a folder that goes away'];
  }
}
