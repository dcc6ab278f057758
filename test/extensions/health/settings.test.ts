import { describe, expect, it } from 'vitest';
import { healthSettings } from '../../../src/extensions/health/settings.ts';
import { loadWith } from '../../support/load-with.ts';

const KEY = 'k3y-that-must-stay-hidden';
const opsOf = (env: Readonly<Record<string, string>>) => healthSettings.of(loadWith(env)).ops;

describe('the ops endpoint', () => {
  it('listens on this machine alone, and lets no person decide, by default', () => {
    expect(opsOf({})).toEqual({ listen: { host: '127.0.0.1', port: 9464 }, hosts: [], actions: 'off' });
  });

  it.each(['0.0.0.0:9464', '[::]:9464', 'shop.example:9464'])('listens on %s with a token only', (listen) => {
    const env = { ORDER_SYNC_OPS_LISTEN: listen };
    expect(() => opsOf(env)).toThrow('ops.token');
    expect(opsOf({ ...env, ORDER_SYNC_OPS_TOKEN: KEY }).token).toBe(KEY);
  });

  it.each(['127.0.0.1:0', '[::1]:9464', 'localhost:9464', 'off'])('listens on %s without one', (listen) => {
    expect(opsOf({ ORDER_SYNC_OPS_LISTEN: listen }).token).toBeUndefined();
  });

  it('has names of hosts, in small letters and without a port', () => {
    expect(opsOf({ ORDER_SYNC_OPS_HOSTS: 'Ops.shop.example, ops' }).hosts).toEqual(['ops.shop.example', 'ops']);
    expect(() => opsOf({ ORDER_SYNC_OPS_HOSTS: 'ops.shop.example:443' })).toThrow(
      'ops.hosts[0] must be the name of a host',
    );
  });

  it('lets persons decide with a token only', () => {
    const env = { ORDER_SYNC_OPS_ACTIONS: 'on' };
    expect(() => opsOf(env)).toThrow(/ops\.actions .*ops\.token/);
    expect(opsOf({ ...env, ORDER_SYNC_OPS_TOKEN: KEY }).actions).toBe('on');
  });

  it('takes no token that can be guessed', () => {
    expect(() => opsOf({ ORDER_SYNC_OPS_TOKEN: 'fifteen-letters' })).toThrow('at least 16');
  });
});
