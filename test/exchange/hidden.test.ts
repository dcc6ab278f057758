import { parse, stringify } from 'lossless-json';
import { describe, expect, it } from 'vitest';
import { withoutTokens } from '../../src/extensions/documents/hidden-tokens.ts';

describe('a body that is shown', () => {
  it('has no token and no payment link at any depth, and every digit of the rest', () => {
    const secrets = {
      paymentToken: 'canary',
      'payment\\u0054oken': 'canary',
      internalToken: { value: 'canary' },
      token: ['canary'],
      link: 'https://pay.example/canary',
      apiKey: 'canary',
    };
    const fields = Object.entries(secrets).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
    const body = `{"asset":1.50000000000000000001,"linkId":"l1","paymentToken2":null,"list":[{${fields.join(',')}}]}`;
    const shown = withoutTokens(body);
    expect(shown).not.toContain('canary');
    expect(shown).toContain('1.50000000000000000001');
    expect(parse(shown)).toMatchObject({ linkId: 'l1', paymentToken2: null });
  });

  it('is as it was if it holds none', () => {
    const body = '{"a":[1.0,null,true,{"b":"c"}]}';
    expect(withoutTokens(body)).toBe(stringify(parse(body)));
  });

  it('is hidden whole if it is no JSON', () => {
    expect(withoutTokens('token=canary')).not.toContain('canary');
  });
});
