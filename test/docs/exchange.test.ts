import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/settings/schema.ts';
import { SETTINGS_PARTS } from '../support/settings.ts';

/** The numbered parts of the interface document that say something about the interface. */
const SECTIONS = '2 2.1 2.2 2.3 2.4 2.5 2.6 2.7 3 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 4.8 4.9 4.10 4.11 5 6 7 8 9'.split(' ');
/** Every field, status and code of it that has a row or stands in one. */
const NAMES =
  `linkId status token tokenValidTill expiresAt customerNumber firstName lastName id bank country number type
  asset assetPosition currencyPair externalOrderId orderType exchangeType limit paymentToken providerType cryptoAddress
  bonus merchant percent percentEnabled reward resultMessage submitByResident creationDate modificationDate
  completionDate serverDate exchangeOperation cryptoTransaction fiatTransaction email level_type kycLevelType actionId
  preOrderId file details message code x-api-key NOT_VERIFIED INPUT DEPOSIT SELL CARDPROV REQUEST NEW MAIN LIVENESS OK ok
  UNAUTHORIZED NOT_FOUND INVALID_EMAIL LINK_ALREADY_EXISTS BAD_REQUEST INVALID_VALUE`.split(/\s+/);
const ROOT = new URL('../../', import.meta.url);

/** The rows of the table, by their cells. */
const rows = readFileSync(new URL('docs/reference/interface.md', ROOT), 'utf8')
  .split('\n')
  .filter((line) => /^\| \d/.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()))
  .map(([, section = '', shown = '', done = '', tests = '']) => ({ section, shown, done, tests }));

function filesIn(text: string): string[] {
  return [...text.matchAll(/`((?:src|test|migrations|config)\/[^`]+)`/g)].map(([, path = '']) => path);
}

const { general } = schemaOf({ cwd: '/', parts: SETTINGS_PARTS });

describe('the table of the interface', () => {
  it('has a row for every section, and none of another', () => {
    expect(new Set(rows.map(({ section }) => section))).toEqual(new Set(SECTIONS));
  });

  it.each(NAMES)('names %s', (name) => {
    const shown = rows.map((row) => row.shown).join('\n');
    expect(shown).toContain(`\`${name}\``);
  });

  it.each(rows)('names files that are there: §$section $shown', ({ done, tests }) => {
    expect(filesIn(done)).not.toEqual([]);
    expect(filesIn(tests)).not.toEqual([]);
    expect(filesIn(tests).every((path) => /^test\/.*\.test\.ts$/.test(path))).toBe(true);
    const missing = [...filesIn(done), ...filesIn(tests)].filter((path) => !existsSync(new URL(path, ROOT)));
    expect(missing).toEqual([]);
  });
});

describe('the table of open points', () => {
  const open = readFileSync(new URL('docs/exchange.md', ROOT), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| §') && !line.startsWith('| § |'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, section = '', point = '', done = '', changedBy = '']) => ({ section, point, done, changedBy }));

  it('has a row for every section that leaves something open', () => {
    const named = new Set(open.flatMap(({ section }) => [...section.matchAll(/§(\d+)/g)].map(([, number]) => number)));
    expect(named).toEqual(new Set('123456789'));
  });

  // That the commands are understood is tested with those of all pages.
  it.each(open)('names settings that are there: $section $point', ({ done, changedBy }) => {
    expect([done === '', changedBy === '']).toEqual([false, false]);
    const names = [...changedBy.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    const settings = names.filter((name) => !name.startsWith('order-sync '));
    expect(settings.filter((name) => !general.paths.has(name))).toEqual([]);
  });
});
