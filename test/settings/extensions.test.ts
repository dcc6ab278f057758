import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { explainError } from '../../src/cli/shared/exit.ts';
import { loadConfig } from '../../src/settings/config.ts';
import { section, settingsPart } from '../../src/settings/settings.ts';
import { duration, optional, plainText } from '../../src/settings/values.ts';
import { temporaryFolder } from '../support/folders.ts';
import { configSources } from '../../src/extensions/setup/sources.ts';

const EXCHANGE = { ORDER_SYNC_EXCHANGE_BASE_URL: 'https://exchange.example', ORDER_SYNC_EXCHANGE_API_KEY: 'key' };
const SECRET = 'a-secret-that-is-not-shown';
const AN_ACCOUNT = 'accounts: {a: {}}';
let cwd = '';

beforeEach(() => void (cwd = temporaryFolder()));

interface Given {
  readonly env?: Readonly<Record<string, string>>;
  readonly yaml?: string;
}

function optionsOf({ env = {}, yaml }: Given) {
  if (yaml !== undefined) writeFileSync(join(cwd, 'own.yaml'), yaml, { mode: 0o600 });
  const file = yaml === undefined ? null : 'own.yaml';
  return { env: { ...EXCHANGE, ...env }, cwd, file, requireExchange: true };
}

/** The exit code and the message of what refuses the settings. */
function refusalOf(given: Given) {
  try {
    loadConfig(optionsOf(given));
  } catch (error) {
    return explainError(error);
  }
  throw new Error('was accepted');
}

describe('without any extension', () => {
  it('there are the sections of the core, and the defaults of extensions are ignored', () => {
    const config = loadConfig(optionsOf({}));
    expect(Object.keys(config)).toEqual([
      'exchange',
      'database',
      'follow',
      'workers',
      'schedule',
      'create',
      'reconcile',
      'log',
      'accounts',
      'file',
    ]);
    const sections = configSources(optionsOf({})).map(({ setting }) => setting.replace(/\..*/, ''));
    expect(new Set(sections)).toEqual(
      new Set(Object.keys(config).filter((name) => name !== 'accounts' && name !== 'file')),
    );
  });

  it.each<[Given, string, string]>([
    [{ yaml: 'log:\nphotos:\n  listen: off' }, 'own.yaml:3', 'photos.listen'],
    [{ yaml: 'ops: {tokenFile: /etc/token}' }, 'own.yaml:1', 'ops.tokenFile'],
    [{ yaml: 'retention: {photos: }' }, 'own.yaml:1', 'retention.photos'],
    [{ yaml: 'follow: {worth: 1s}' }, 'own.yaml:1', 'follow.worth'],
    [{ yaml: 'guard: {createsPerHour: 5}' }, 'own.yaml:1', 'guard.createsPerHour'],
    [{ env: { ORDER_SYNC_LINKS_CRON: '' } }, 'ORDER_SYNC_LINKS_CRON', 'links.cron'],
    [{ env: { ORDER_SYNC_OPS_TOKEN: SECRET } }, 'ORDER_SYNC_OPS_TOKEN', 'ops.token'],
    [{ yaml: `accounts:\n  a: {follow: {worth: 1s}}` }, 'own.yaml:2', 'accounts.a.follow.worth'],
    [
      { yaml: AN_ACCOUNT, env: { ORDER_SYNC_ACCOUNTS_A_FOLLOW_SHARE: '1' } },
      'ORDER_SYNC_ACCOUNTS_A_FOLLOW_SHARE',
      'accounts.a.follow.share',
    ],
  ])('a setting of one ends with 78 and its place: %j', (given, source, setting) => {
    const message = `${source}: ${setting} is a setting of an extension that is not installed: remove it`;
    expect(refusalOf(given)).toEqual({ code: 78, message });
  });

  it('a variable that names the file of such a setting is refused, and the file is not read', () => {
    const { code, message } = refusalOf({ env: { ORDER_SYNC_WEBHOOKS_ENDPOINTS_FILE: '/none' } });
    expect([code, message]).toEqual([
      78,
      expect.stringMatching(/webhooks\.endpointsFile is .*extension.* not installed/),
    ]);
  });

  it('an account has no section that none may have of its own, and empty sections are fine', () => {
    expect(refusalOf({ yaml: 'accounts: {a: {photos: {listen: off}}}' }).message).toMatch(/accounts\.a\.photos is not/);
    expect(loadConfig(optionsOf({ yaml: 'photos:\nops: {}' })).log.level).toBe('info');
  });
});

describe('follow.pace without the extension of another pace', () => {
  it('is every-tick, by default too', () => {
    expect(loadConfig(optionsOf({})).follow.pace).toBe('every-tick');
    expect(configSources(optionsOf({}))).toContainEqual({
      setting: 'follow.pace',
      value: 'every-tick',
      source: 'default',
    });
    expect(loadConfig(optionsOf({ yaml: 'follow: {pace: every-tick}' })).follow.pace).toBe('every-tick');
  });

  it.each<[Given, RegExp]>([
    [{ yaml: 'follow: {pace: learned}' }, /^own\.yaml:1: follow\.pace must be every-tick: .*extension.* not installed/],
    [{ env: { ORDER_SYNC_FOLLOW_PACE: 'learned' } }, /^ORDER_SYNC_FOLLOW_PACE: follow\.pace must be every-tick/],
    [
      { yaml: 'accounts: {a: {follow: {pace: learned}}}' },
      /^own\.yaml:1: accounts\.a\.follow\.pace must be every-tick/,
    ],
  ])('takes no other: %j', (given, message) => {
    expect(refusalOf(given)).toEqual({ code: 78, message: expect.stringMatching(message) });
  });
});

describe('the part of an extension', () => {
  const own = settingsPart({
    sections: { control: section({ socket: optional(plainText) }) },
    fields: { follow: { worth: duration('1d') }, retention: { photos: optional(duration('1d')) } },
    secrets: ['control.socket'],
    files: ['control.socket'],
  });

  it('hands the extension its sections, and its fields of an account, with paths that are absolute', () => {
    const yaml = 'control: {socket: here}\naccounts: {a: {follow: {worth: 9s}}, b: {}}';
    const config = loadConfig({ ...optionsOf({ yaml }), parts: [own] });
    expect([own.of(config).control.socket, own.of(config).follow.worth]).toEqual([join(cwd, 'here'), 2_000]);
    expect(config.accounts.map((account) => own.of(account).follow.worth)).toEqual([9_000, 2_000]);
    const sources = configSources({ ...optionsOf({ yaml }), parts: [own] });
    expect(sources.map(({ setting }) => setting)).toContain('follow.worth');
    expect(sources).toContainEqual({ setting: 'control.socket', value: '(set, hidden)', source: 'own.yaml:1' });
  });

  it('adds no field to a section that is not there', () => {
    const load = () => loadConfig({ ...optionsOf({ yaml: 'retention: {photos: 1d}' }), parts: [own] });
    expect(load).toThrow(/retention\.photos is a setting of an extension that is not installed/);
  });
});
