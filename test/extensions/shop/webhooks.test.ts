import { Webhook } from 'standardwebhooks';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { EVENT_TYPES, type FeedEvent } from '../../../src/extensions/feed/event.ts';
import { EVENT_EXAMPLE } from '../../../src/extensions/feed/operations.ts';
import { verify, WebhookError, type EventOfType, type EventType } from '../../../src/extensions/shop/webhooks.ts';

const SECRET = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const OTHER = `whsec_${btoa('another secret of thirty-two byte')}`;
const NOW = Date.parse('2026-01-05T12:00:00.000Z');
const BODY = JSON.stringify(EVENT_EXAMPLE);

function signed(body = BODY, secrets = [SECRET], at = NOW) {
  return {
    'webhook-id': EVENT_EXAMPLE.id,
    'webhook-timestamp': String(at / 1_000),
    'webhook-signature': secrets
      .map((secret) => new Webhook(secret).sign(EVENT_EXAMPLE.id, new Date(at), body))
      .join(' '),
  };
}

const reasonOf = async (verifying: Promise<unknown>) =>
  await verifying.then(
    () => 'verified',
    (error: unknown) => (error instanceof WebhookError ? error.reason : error),
  );

describe('a webhook', () => {
  it.each<[name: string, payload: string | Uint8Array, headers: Parameters<typeof verify>[1]]>([
    ['text, and the headers of Node', BODY, signed()],
    ['bytes, and the headers of fetch', Buffer.from(BODY), new Headers(signed())],
    [
      'names in capitals',
      BODY,
      Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value])),
    ],
    ['two signatures', BODY, signed(BODY, [OTHER, SECRET])],
    [
      'signatures of other kinds',
      BODY,
      { ...signed(), 'webhook-signature': `v1a,x v1,!! v2, ${signed()['webhook-signature']}` },
    ],
  ])('is verified: %s', async (_name, payload, headers) => {
    const event = await verify(payload, headers, SECRET, { now: NOW });
    expect(event).toEqual({ ...EVENT_EXAMPLE, cursor: '1042.3f9ac0d1e2b44a5f' });
  });

  it('is verified by any of several secrets', async () => {
    expect(await reasonOf(verify(BODY, signed(), [OTHER, SECRET], { now: NOW }))).toBe('verified');
    expect(await reasonOf(verify(BODY, signed(), [OTHER], { now: NOW }))).toBe('signature-wrong');
    expect(await reasonOf(verify(BODY, signed(), [], { now: NOW }))).toBe('signature-wrong');
  });

  it('may be a message of a test, which has no cursor', async () => {
    const body = JSON.stringify({ version: 1, id: 'test_1', type: 'webhook.test', timestamp: 't', data: {} });
    expect(await verify(body, signed(body), SECRET, { now: NOW })).toEqual(JSON.parse(body));
  });

  it.each([
    ['too-old', NOW + 301_000],
    ['too-new', NOW - 301_000],
    ['verified', NOW + 300_999],
    ['verified', NOW - 300_000],
  ])('is %s at another time', async (reason, now) => {
    expect(await reasonOf(verify(BODY, signed(), SECRET, { now }))).toBe(reason);
  });

  it.each([
    ['signature-wrong', BODY.replace('1042', '1043'), {}],
    ['signature-wrong', BODY, { 'webhook-id': 'evt_other' }],
    ['signature-wrong', BODY, { 'webhook-signature': 'v1,' }],
    ['signature-wrong', BODY, { 'webhook-timestamp': String(NOW / 1_000 + 1) }],
    ['timestamp-unreadable', BODY, { 'webhook-timestamp': '1e9' }],
    ['header-missing', BODY, { 'webhook-signature': undefined }],
    ['header-missing', BODY, { 'webhook-id': ['a', 'b'] }],
    ['payload-unreadable', 'null', signed('null')],
    ['payload-unreadable', '{', signed('{')],
  ])('is refused: %s', async (reason, body, changed) => {
    expect(await reasonOf(verify(body, { ...signed(), ...changed }, SECRET, { now: NOW }))).toBe(reason);
  });

  it.each(['whsec_', 'whsec_!!', ''])('cannot be verified by what is no secret: %j', async (secret) => {
    await expect(verify(BODY, signed(), secret, { now: NOW })).rejects.toThrow(TypeError);
  });
});

describe('the types of events', () => {
  it('are those of the feed', () => {
    expectTypeOf<EventType>().toEqualTypeOf<FeedEvent['type']>();
    expectTypeOf<(typeof EVENT_TYPES)[number]>().toEqualTypeOf<EventType>();
    type Ours = EventOfType<EventType>;
    expectTypeOf<Omit<FeedEvent, 'cursor' | 'data' | 'type'>>().toEqualTypeOf<
      Omit<{ -readonly [Name in keyof Ours]: Ours[Name] }, 'cursor' | 'data' | 'type'>
    >();
    expectTypeOf<FeedEvent['data']>().toExtend<Ours['data']>();
    expectTypeOf<Ours['data']>().toExtend<FeedEvent['data']>();
    expect(EVENT_TYPES.length).toBeGreaterThan(0);
  });
});
