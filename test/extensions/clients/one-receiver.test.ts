import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { ConfigError, type Config } from '../../../src/settings/config.ts';
import { loadConfig, withSettings } from '../../support/settings.ts';
import { receivePhotos } from '../../../src/extensions/clients/photo-receiver.ts';
import { detailsPart, filePart, multipart } from '../../support/multipart.ts';
import { JPEG } from '../../support/photo-program.ts';
import { begun, fileIsOpen, photoReceiver, post } from '../../support/photo-receiver.ts';
import { clientsSettings } from '../../../src/extensions/clients/settings.ts';

const ONE = { ORDER_SYNC_DATABASE_URL: 'postgres://somebody@127.0.0.1/somewhere' };

/** A worker that receives photos, and what another one of its machine is given: the same address and folder. */
async function twoWorkers() {
  const on = await photoReceiver();
  const { port } = new URL(on.url);
  const { app } = on.program;
  const shared = loadConfig({ env: ONE, cwd: on.folder, requireExchange: false });
  const photos = { ...clientsSettings.of(app.config).photos, listen: { host: '127.0.0.1', port: Number(port) } };
  const workerOf = (config: Config) => ({ ...app, config: withSettings(config, { photos }) });
  return { ...on, second: workerOf(shared), alone: workerOf(on.program.config) };
}

describe('a second worker of a machine', () => {
  it('receives photos when the first has ended, and touches nothing of it before', async () => {
    const on = await twoWorkers();
    const token = await on.ask();
    const client = await begun(on.url, 100_000, Buffer.concat([detailsPart(token), filePart(JPEG)]));
    await fileIsOpen(on);
    const before = on.files();
    const stop = new AbortController();
    await using second = await receivePhotos(on.second, stop.signal);
    expect(on.files()).toEqual(before);
    client.destroy();
    on.stop.abort();
    await on.receiver.close();
    writeFileSync(join(on.folder, '.incoming', 'left'), JPEG);
    const waiting = second.waiting.then(() => 'received');
    while ((await Promise.race([waiting, systemClock().turn()])) !== 'received') on.program.clock.advance(1_000);
    expect(on.files()).toEqual([]);
    expect((await post(on.url, multipart(detailsPart(token), filePart(JPEG)))).status).toBe(200);
    expect(on.rows()).toHaveLength(1);
    stop.abort();
  });

  it('ends while it waits', async () => {
    const on = await twoWorkers();
    const stop = new AbortController();
    const second = await receivePhotos(on.second, stop.signal);
    stop.abort();
    await second.close();
    expect(
      on.log.with('another process listens at photos.listen; this process receives photos after that process ends'),
    ).toHaveLength(1);
  });

  it('does not wait if a database has one process', async () => {
    const on = await twoWorkers();
    await expect(receivePhotos(on.alone, new AbortController().signal)).rejects.toThrow(ConfigError);
  });
});
