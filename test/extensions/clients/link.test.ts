import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decideChecked,
  decideRemembered,
  rememberedLink,
  type LinkAnswer,
  type LinkDecision,
  type AnsweredLink,
  type LinkRow,
} from '../../../src/extensions/clients/link.ts';
import { after } from '../../../src/base/instant.ts';
import { HOUR } from '../../support/tracking.ts';

const THEN = new Date('2026-01-05T12:00:00.000Z');
const NOW = after(THEN, HOUR);
const GONE_AT = after(THEN, 1_000);
const NOT_FOUND: LinkAnswer = { kind: 'not-found' };

/** A link that was made a while ago, with these differences. */
function linkWith(changes: Partial<LinkRow> = {}): LinkRow {
  return {
    account: 'default',
    link_id: 'l1',
    reference: 'client-7',
    source: 'created',
    status: 'NOT_VERIFIED',
    created_at: THEN.toISOString(),
    updated_at: THEN.toISOString(),
    last_checked_at: THEN.toISOString(),
    missing_since: null,
    ...changes,
  };
}

function told(changes: Partial<AnsweredLink> = {}): AnsweredLink {
  return { account: 'default', link_id: 'l1', status: 'NOT_VERIFIED', reference: null, source: 'followed', ...changes };
}

const found = (status: string): LinkAnswer => ({ kind: 'found', status });

/** `field old → new source`, in order. */
function said({ events }: LinkDecision): string[] {
  return events.map(({ field, oldValue, newValue, source }) => `${field} ${oldValue} → ${newValue} ${source}`);
}

describe('a link that is new', () => {
  it('is remembered with its first status as an event', () => {
    const decision = decideRemembered(undefined, told({ reference: 'client-7', source: 'created' }), THEN);
    expect(decision.link).toEqual(linkWith());
    expect(said(decision)).toEqual(['status null → NOT_VERIFIED created']);
  });
});

describe('a stored link that programs read', () => {
  it('has every field but the account', () => {
    const { account: _account, ...fields } = linkWith({ missing_since: GONE_AT.toISOString() });
    expect(rememberedLink.parse(linkWith({ missing_since: GONE_AT.toISOString() }))).toEqual(fields);
  });

  it.each(['reference', 'source', 'missing_since'] as const)('describes its field %s', (field) => {
    expect(rememberedLink.shape[field].description).toMatch(/./);
  });
});

describe('a link that is made or adopted again', () => {
  it('changes nothing but the time of the check if the exchange says the same', () => {
    const decision = decideRemembered(linkWith(), told(), NOW);
    expect(decision).toEqual({ link: linkWith({ last_checked_at: NOW.toISOString() }), events: [] });
  });

  it('keeps its reference unless a new one is given', () => {
    expect(decideRemembered(linkWith(), told({ reference: null }), NOW).link.reference).toBe('client-7');
    const renamed = decideRemembered(linkWith(), told({ reference: 'client-8' }), NOW);
    expect(renamed.link).toEqual(
      linkWith({ reference: 'client-8', updated_at: NOW.toISOString(), last_checked_at: NOW.toISOString() }),
    );
    expect(renamed.events).toEqual([]);
    const same = decideRemembered(linkWith(), told({ reference: 'client-7' }), NOW);
    expect(same.link).toEqual(linkWith({ last_checked_at: NOW.toISOString() }));
  });

  it('keeps its source, and records a changed status under what brought it', () => {
    const decision = decideRemembered(linkWith(), told({ status: 'VERIFIED' }), NOW);
    expect(decision.link).toEqual(
      linkWith({ status: 'VERIFIED', updated_at: NOW.toISOString(), last_checked_at: NOW.toISOString() }),
    );
    expect(said(decision)).toEqual(['status NOT_VERIFIED → VERIFIED followed']);
  });

  it('is missing no more', () => {
    const decision = decideRemembered(linkWith({ missing_since: GONE_AT.toISOString() }), told(), NOW);
    expect(decision.link).toEqual(linkWith({ updated_at: NOW.toISOString(), last_checked_at: NOW.toISOString() }));
    expect(said(decision)).toEqual([`missing ${GONE_AT.toISOString()} → null followed`]);
  });
});

describe('a look at a link', () => {
  it.each(['VERIFIED', '', 'not_verified', 'NOT_VERIFIED ', 'GEPRÜFT\u0000'])(
    'records the status %j verbatim when it differs',
    (status) => {
      const decision = decideChecked(linkWith(), found(status), NOW);
      expect(decision.link).toEqual(
        linkWith({ status, updated_at: NOW.toISOString(), last_checked_at: NOW.toISOString() }),
      );
      expect(said(decision)).toEqual([`status NOT_VERIFIED → ${status} check`]);
    },
  );

  it('that brings the same status is remembered as a look only', () => {
    const decision = decideChecked(linkWith(), found('NOT_VERIFIED'), NOW);
    expect(decision).toEqual({ link: linkWith({ last_checked_at: NOW.toISOString() }), events: [] });
  });

  it('records that the link is missing, once, and keeps everything else of it', () => {
    const first = decideChecked(linkWith(), NOT_FOUND, GONE_AT);
    expect(first.link).toEqual(
      linkWith({
        updated_at: GONE_AT.toISOString(),
        last_checked_at: GONE_AT.toISOString(),
        missing_since: GONE_AT.toISOString(),
      }),
    );
    expect(said(first)).toEqual([`missing null → ${GONE_AT.toISOString()} check`]);
    expect(first.events[0]?.reason).toMatch(/./);
    const second = decideChecked(first.link, NOT_FOUND, NOW);
    expect(second).toEqual({ link: { ...first.link, last_checked_at: NOW.toISOString() }, events: [] });
  });

  it('records that the link is back, and its status if that has changed meanwhile', () => {
    const missing = linkWith({ missing_since: GONE_AT.toISOString() });
    const back = `missing ${GONE_AT.toISOString()} → null check`;
    expect(said(decideChecked(missing, found('NOT_VERIFIED'), NOW))).toEqual([back]);
    const changed = decideChecked(missing, found('VERIFIED'), NOW);
    expect(changed.events.map(({ reason }) => reason === null)).toEqual([false, true]);
    expect(changed.events[0]?.reason).toMatch(/./);
    expect(said(changed)).toEqual([back, 'status NOT_VERIFIED → VERIFIED check']);
    expect(changed.link.missing_since).toBeNull();
  });
});

describe('the history of a link', () => {
  const status = fc.constantFrom('A', 'B', '');
  const step = fc.oneof(
    fc.record({ kind: fc.constant('told' as const), status, reference: fc.option(fc.constantFrom('r1', 'r2')) }),
    fc.record({ kind: fc.constant('found' as const), status }),
    fc.constant(NOT_FOUND),
  );

  it('is a chain that ends in what the row says, whatever the exchange answers', () => {
    fc.assert(
      fc.property(status, fc.array(step), (first, steps) => {
        const start = decideRemembered(undefined, told({ status: first }), THEN);
        let { link } = start;
        const events = [...start.events];
        steps.forEach((one, index) => {
          const now = after(THEN, (index + 1) * 1_000);
          const decision =
            one.kind === 'told'
              ? decideRemembered(link, told({ status: one.status, reference: one.reference }), now)
              : decideChecked(link, one, now);
          const stays = { ...decision.link, last_checked_at: link.last_checked_at };
          if (decision.events.length === 0) expect(stays).toEqual({ ...link, ...pickReference(stays) });
          expect(decision.link.last_checked_at).toBe(now.toISOString());
          link = decision.link;
          events.push(...decision.events);
        });
        const values = { status: null as string | null, missing: null as string | null };
        for (const { field, oldValue, newValue } of events) {
          expect(oldValue).toBe(values[field]);
          expect(newValue).not.toBe(oldValue);
          values[field] = newValue;
        }
        expect(values).toEqual({ status: link.status, missing: link.missing_since });
      }),
    );
  });
});

/** A reference may change without an event. */
function pickReference({ reference, updated_at }: LinkRow) {
  return { reference, updated_at };
}
