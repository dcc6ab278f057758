import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { webhooksSettings } from '../../../src/extensions/webhooks/settings.ts';
import type { ConfigError } from '../../../src/settings/config.ts';
import { loadWith } from '../../support/load-with.ts';
import { configSources } from '../../support/settings.ts';

describe('webhooks.endpoints', () => {
  const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const PUBLISHED = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
  const listOf = (...endpoints: readonly object[]) => ({ ORDER_SYNC_WEBHOOKS_ENDPOINTS: JSON.stringify(endpoints) });

  const endpointsOf = (env: Readonly<Record<string, string>>, yaml?: string) =>
    webhooksSettings.of(loadWith(env, yaml)).webhooks.endpoints;

  it('are none, and dead letters are kept, by default', () => {
    expect(endpointsOf({})).toEqual([]);
    expect(webhooksSettings.of(loadWith({})).retention.deadLetters).toBeUndefined();
  });

  it('are read from the environment and from a file in the same way', () => {
    const url = 'https://shop.test/events?key=1';
    const [endpoint] = endpointsOf(listOf({ url, secrets: [SECRET], events: ['order.*'] }));
    expect(endpoint).toEqual({
      name: 'https://shop.test/events',
      url,
      secrets: [SECRET],
      events: ['order.*'],
      allowPrivate: false,
    });
    const yaml = `webhooks:\n  endpoints:\n    - {name: shop, url: 'http://127.0.0.1:80/', secrets: [${SECRET}], allowPrivate: true}\n`;
    expect(endpointsOf({}, yaml)).toMatchObject([{ name: 'shop', allowPrivate: true }]);
    expect(() => loadWith({}, yaml, 0o644)).toThrow(/chmod 600/);
  });

  it.each([
    [{ url: 'http://shop.test/', secrets: [SECRET] }, /https/],
    [{ url: 'http://127.0.0.1/', secrets: [SECRET] }, /allowPrivate/],
    [{ url: 'https://u:p@shop.test/', secrets: [SECRET] }, /password/],
    [{ url: 'https://shop.test/', secrets: [] }, /1 or 2 secrets/],
    [{ url: 'https://shop.test/', secrets: ['whsec_c2hvcnQ='] }, /secrets\[0\] must be whsec_ and 24 to 64 bytes/],
    [{ url: 'https://shop.test/', secrets: [SECRET], events: ['order.state'] }, /did you mean [a-z._]+\?$/],
    [{ url: 'https://shop.test/', secrets: [SECRET], events: ['orders.*'] }, /did you mean order\.\*\?$/],
    [{ url: 'https://shop.test/', secrets: [SECRET], retries: 1 }, /unknown field/],
    [{ url: 'https://shop.test/', secrets: [SECRET], name: 'a\nb' }, /name/],
    [{ url: 'https://shop.example/events', secrets: [SECRET] }, /name for examples/],
    [{ url: 'https://www.example.com/', secrets: [SECRET] }, /name for examples/],
    [{ url: 'https://shop.test/', secrets: [PUBLISHED] }, /openssl rand/],
  ])('%j is refused, and no secret is shown', (endpoint, reason) => {
    const refused = () => loadWith(listOf(endpoint));
    expect(refused).toThrow(reason);
    expect(refused).toThrow(expect.objectContaining({ message: expect.not.stringContaining(SECRET.slice(6, 20)) }));
  });

  it('may have the secret of the manual on this machine, as its examples do', () => {
    const endpoint = { url: 'http://127.0.0.1:8088/', secrets: [PUBLISHED], allowPrivate: true };
    expect(endpointsOf(listOf(endpoint))).toHaveLength(1);
    expect(readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8')).toContain(PUBLISHED);
  });

  it('are refused with all that is wrong in each of them at once', () => {
    const endpoints = [
      { url: 'http://shop.test/', secrets: ['whsec_c2hvcnQ='], events: ['order.state'] },
      { url: 'http://other.test/', secrets: [SECRET] },
      { url: 'https://third.test/', secrets: [], allowPrivate: 'maybe' },
      { url: 'https://shop.example/', secrets: [PUBLISHED] },
    ];
    const problems = problemsOf(() => loadWith(listOf(...endpoints))).map((problem) => problem.split(' ')[0]);
    const faults = [
      '[0].secrets[0]',
      '[0].events[0]',
      '[0].url',
      '[1].url',
      '[2].secrets',
      '[2].allowPrivate',
      '[3].url',
      '[3].secrets',
    ];
    expect(problems).toEqual(faults.map((fault) => `webhooks.endpoints${fault}`));
  });

  function problemsOf(load: () => unknown): readonly string[] {
    try {
      load();
    } catch (error) {
      return (error as ConfigError).problems.map(({ problem }) => problem);
    }
    return [];
  }

  it('are not shown', () => {
    const options = { env: listOf({ url: 'https://shop.test/', secrets: [SECRET] }), cwd: '/', file: null };
    const shown = configSources(options).find(({ setting }) => setting === 'webhooks.endpoints');
    expect(shown?.value).toBe('(set, hidden)');
  });
});
