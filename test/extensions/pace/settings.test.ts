import { describe, expect, it } from 'vitest';
import { paceSettings } from '../../../src/extensions/pace/settings.ts';
import { loadWith } from '../../support/load-with.ts';
import { SECOND } from '../../support/tracking.ts';

const follow = (name: string, value: string) =>
  paceSettings.of(loadWith({ [`ORDER_SYNC_FOLLOW_${name}`]: value })).follow;

describe('the settings of the pace', () => {
  it('have look-ups learned, in half of the rate', () => {
    expect(loadWith({}).follow).toMatchObject({ pace: 'learned', worth: 2 * SECOND, share: 0.5 });
  });

  it('are read in a file and in the environment alike', () => {
    expect([follow('SHARE', '1').share, follow('SHARE', '0.000001').share]).toEqual([1, 0.000_001]);
    expect([follow('WORTH', '250ms').worth, follow('PACE', 'every-tick').pace]).toEqual([250, 'every-tick']);
  });

  it.each([
    ['PACE', ['fast', '']],
    ['WORTH', ['0s', '2', '2d']],
    ['SHARE', ['0', '1.1', '50%', '-0.5', '1e-3', '', 'NaN', '.5', '0.0000001']],
  ])('are refused if they cannot be, by their names: %s %j', (name, texts) => {
    for (const text of texts) expect(() => follow(name, text)).toThrow(`follow.${name.toLowerCase()}`);
  });

  it('may be another for an account', () => {
    const yaml = `follow: {share: 0.2}\naccounts:\n  a: {follow: {pace: every-tick}}\n  b: {follow: {worth: 9s}}`;
    const config = loadWith({}, yaml);
    const of = config.accounts.map(paceSettings.of).map(({ follow: { pace, share, worth } }) => [pace, share, worth]);
    expect(of).toEqual([
      ['every-tick', 0.2, 2 * SECOND],
      ['learned', 0.2, 9 * SECOND],
    ]);
  });

  it.each(['follow: {%}', 'accounts: {a: {follow: {%}}}'])('name their successor if they are gone: %s', (yaml) => {
    const refused = (setting: string) => () => loadWith({}, yaml.replace('%', setting));
    expect(refused('pace: spaced')).toThrow(/own\.yaml:1: .*follow\.pace\b.*\blearned\b/);
    expect(refused('steps: [5s, 1m after 10m]')).toThrow(/own\.yaml:1: .*follow\.steps\b.*follow\.pace: learned\b/);
  });

  it.each(['', 'ACCOUNTS_A_'])('name their successor in the environment too: %s', (prefix) => {
    const refused = (name: string, value: string) => () =>
      loadWith({ [`ORDER_SYNC_${prefix}FOLLOW_${name}`]: value }, 'accounts: {a: {}}');
    expect(refused('PACE', 'spaced')).toThrow(/FOLLOW_PACE.*\blearned\b/);
    for (const name of ['STEPS', 'STEPS_FILE'])
      expect(refused(name, '5s')).toThrow(new RegExp(`FOLLOW_${name}: .*follow\\.pace: learned`));
  });
});
