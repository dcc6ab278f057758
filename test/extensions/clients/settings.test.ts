import { describe, expect, it } from 'vitest';
import { clientsSettings } from '../../../src/extensions/clients/settings.ts';
import { loadWith } from '../../support/load-with.ts';

const settingsOf = (env: Readonly<Record<string, string>> = {}) => clientsSettings.of(loadWith(env));

describe('the settings of links and photos', () => {
  it('have the documented defaults', () => {
    const { links, retention, photos } = settingsOf();
    expect({ links, kept: retention.photos }).toEqual({ links: { cron: '*/10 * * * *', finalStatuses: [] } });
    expect(photos).toEqual({
      listen: undefined,
      folder: expect.stringMatching(/^\/.+\/data\/photos$/),
      types: [
        'image/jpeg',
        'image/png',
        'image/webp',
        'image/heic',
        'application/pdf',
        'image/gif',
        'image/bmp',
        'image/avif',
        'image/tiff',
      ],
      tokenLifetime: 86_400_000,
      maxFileBytes: 20 * 1024 ** 2,
      maxFiles: 20,
      maxTotalBytes: 100 * 1024 ** 2,
      timeout: 120_000,
      concurrency: 4,
    });
  });

  it('know an address to listen on and off', () => {
    expect(settingsOf({ ORDER_SYNC_PHOTOS_LISTEN: 'off' }).photos.listen).toBeUndefined();
    expect(settingsOf({ ORDER_SYNC_PHOTOS_LISTEN: '[::1]:0' }).photos.listen).toEqual({ host: '::1', port: 0 });
    for (const listen of ['9464', '127.0.0.1:70000'])
      expect(() => settingsOf({ ORDER_SYNC_PHOTOS_LISTEN: listen })).toThrow('HOST:PORT');
  });
});
