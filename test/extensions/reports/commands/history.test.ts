import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../../support/cli-function.ts';
import { commandFolder } from '../../../support/folders.ts';
import { eventWriter } from '../../../support/events.ts';
import { unguarded } from '../../../support/unguarded.ts';

const FORMATS = ['table', 'csv', 'json', 'xlsx', 'html'] as const;
const HOUR_MS = 60 * 60_000;
const HOSTILE = '=HYPERLINK("http://x")<script>\u001b[31m';

const at = commandFolder();
beforeEach(() => {
  const merchant = new Database(at.path);
  merchant
    .prepare(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency, created_at) values
        (?, '1.50', 'BTC', 'EUR', '2026-01-01T00:00:00.000Z'), ('b', '1', 'BTC', 'EUR', '2026-01-03T00:00:00.000Z')`,
    )
    .run(HOSTILE);
  const write = eventWriter(merchant);
  const sent = { external_order_id: HOSTILE, old_value: 'pending', new_value: 'sending', source: 'create' };
  write({ ...sent, observed_at: '2026-01-01T00:00:01.000Z' });
  const cancelled = { external_order_id: 'b', old_value: 'pending', new_value: 'cancelled', source: 'operator' };
  write({ ...cancelled, observed_at: '2026-01-03T00:00:01.000Z', reason: 'a mistake', actor: 'anna' });
  merchant.exec(
    `update merchant_orders set revision = revision + 1, state = 'cancelled' where external_order_id = 'b'`,
  );
  merchant.exec(
    `update merchant_orders set revision = revision + 1, updated_at = '2026-01-03T00:00:01.000Z', next_action_at = null`,
  );
  merchant.close();
});
afterEach(() => {
  vi.useRealTimers();
});

const run = (...args: readonly string[]) => runProgram(args, at.options);

describe('orders explain', () => {
  it('tells what happened and what happens next, of now or of a moment', async () => {
    const [now, then] = await Promise.all([
      run('orders', 'explain', 'b'),
      run('orders', 'explain', 'b', '--as-of', '2026-01-03'),
    ]);
    expect([now.code, now.stderr, then.code, then.stderr]).toEqual([0, '', 0, '']);
    expect(now.stdout.split('\n').slice(1)).toEqual([
      'The order was cancelled before it was sent.',
      '',
      '2026-01-03T00:00:00.000Z  The row was inserted into the database.',
      '2026-01-03T00:00:01.000Z  anna cancelled the order before it was sent: a mistake.',
      '',
      'What happens next:',
      '  Nothing: the order has ended.',
      '',
    ]);
    const { stdout: narrow } = await runProgram(['orders', 'explain', 'b'], { ...at.options, columns: 60 });
    expect(narrow.split('\n').filter((line) => line.length > 60)).toEqual([]);
    expect(narrow).toContain('before it\n                          was sent: a mistake.\n');
    expect(then.stdout).toBe(`Order b as of 2026-01-03T00:00:00.000Z
The order has been waiting to be sent since 2026-01-03T00:00:00.000Z.

2026-01-03T00:00:00.000Z  The row was inserted into the database.

What happens next:
  The order is sent when it is due.
  To cancel the order before it is sent:
    order-sync orders cancel b --reason TEXT
`);
  });

  it('makes a page of it, in the form that the name of the file tells', async () => {
    const { code, stdout, stderr } = await run('orders', 'explain', HOSTILE, '--out', 'story.html');
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(/^wrote story\.html: [\d,]+ bytes, \d+ table rows\n/);
    const page = readFileSync(join(at.folder, 'story.html'), 'utf8');
    expect(page).toMatch(/^<!doctype html>/);
    expect(page).not.toContain('<script');
    expect(await run('orders', 'explain', 'b', '--out', 'story.pdf')).toMatchObject({ code: 64 });
    await run('orders', 'explain', 'b', '--out', 'story.json');
    expect(JSON.parse(readFileSync(join(at.folder, 'story.json'), 'utf8'))).toMatchObject({ externalOrderId: 'b' });
  });

  it('tells programs the same, and does not let an id steer the terminal', async () => {
    const [json, text] = await Promise.all([
      run('orders', 'explain', 'b', '--json', '--as-of', '2026-01-04'),
      run('orders', 'explain', HOSTILE),
    ]);
    expect(JSON.parse(json.stdout)).toEqual({
      schema: 'order-sync.story/1',
      externalOrderId: 'b',
      asOf: '2026-01-04T00:00:00.000Z',
      state: 'cancelled',
      outcome: null,
      headline: 'The order was cancelled before it was sent',
      told: [
        { at: '2026-01-03T00:00:00.000Z', text: 'The row was inserted into the database.' },
        { at: '2026-01-03T00:00:01.000Z', text: 'anna cancelled the order before it was sent: a mistake.' },
      ],
      next: ['Nothing: the order has ended.'],
      pace: null,
    });
    expect(text.stdout).not.toContain('\u001b');
  });

  it('ends with 2 for an order that is not there, with 64 for a time that is none', async () => {
    const [absent, wrong] = await Promise.all([
      run('orders', 'explain', 'c'),
      run('orders', 'explain', 'b', '--as-of', 'yesterday'),
    ]);
    expect([absent.code, absent.stdout, absent.stderr]).toEqual([
      2,
      '',
      'order-sync: there is no order "c" in the table\n',
    ]);
    expect([wrong.code, wrong.stdout]).toEqual([64, '']);
  });
});

describe('report ageing and report changes', () => {
  const REPORTS = [
    ['ageing', '--as-of', '2026-02-01'],
    ['changes', '--to', '2026-02-01'],
  ] as const;

  it.each(REPORTS)('%s is the same bytes each time, in each form, for its owner alone', async (...report) => {
    const part = report[0] === 'ageing' ? 'oldest' : 'changes';
    const write = (name: string, formats: readonly string[]) =>
      Promise.all(
        formats.map((format) =>
          run('report', ...report, '--section', part, '--format', format, '--out', `${name}.${format}`),
        ),
      );
    const ends = await write('one', FORMATS);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + HOUR_MS });
    ends.push(...(await write('two', ['xlsx', 'html'])));
    for (const { code, stderr } of ends) expect([code, stderr]).toEqual([0, expect.stringMatching(/^wrote /)]);
    for (const format of ['xlsx', 'html']) {
      const bytes = readFileSync(join(at.folder, `one.${format}`));
      expect(readFileSync(join(at.folder, `two.${format}`)).equals(bytes)).toBe(true);
      expect(statSync(join(at.folder, `one.${format}`)).mode & 0o777).toBe(0o600);
    }
    const csv = readFileSync(join(at.folder, 'one.csv'), 'utf8');
    expect(csv).toContain(`"'=HYPERLINK(""http://x"")<script>`);
    expect(readFileSync(join(at.folder, 'one.html'), 'utf8')).not.toContain('<script');
  });

  it.each([
    ['ageing', '--from', '2027-01-01'],
    ['changes', '--from', '2025-01-01', '--to', '2025-02-01'],
  ])('%s of an empty period ends with 1 and the reason, unless it may be empty', async (...report) => {
    const [empty, allowed] = [
      await run('report', ...report, '--json'),
      await run('report', ...report, '--json', '--allow-empty'),
    ];
    expect([empty.code, empty.stderr]).toEqual([1, expect.stringMatching(/^order-sync: no [^\n]*--allow-empty/)]);
    expect(JSON.parse(empty.stdout)).toMatchObject({ schema: `order-sync.${report[0]}/1` });
    expect(allowed).toMatchObject({ code: 0, stderr: '' });
  });

  it('ageing tells programs the states of the orders at the moment', async () => {
    const { code, stdout } = await run('report', 'ageing', '--as-of', '2026-01-02', '--json');
    expect(code).toBe(0);
    const { facts, sections } = JSON.parse(stdout) as {
      facts: Record<string, unknown>;
      sections: Record<string, unknown[]>;
    };
    expect(facts).toMatchObject({ asOf: '2026-01-02T00:00:00.000Z', orders: 1 });
    expect(sections['pairs']).toMatchObject([
      { state: 'sending', pair: 'BTC/EUR', orders: 1, p50_seconds: '86399.000', longest_seconds: '86399.000' },
    ]);
    expect(sections['oldest']).toMatchObject([{ external_order_id: HOSTILE, since: '2026-01-01T00:00:01.000Z' }]);
  });

  it.each(['ageing', 'summary'])(
    '%s ends with 1 when its verdict says that a person should look, in each form',
    async (name) => {
      expect(await run('report', name, '--json')).toMatchObject({ code: 0 });
      const merchant = new Database(at.path);
      unguarded(merchant, () =>
        merchant.exec(`update merchant_orders set state = 'held' where external_order_id = 'b'`),
      );
      merchant.close();
      for (const form of [[], ['--json'], ['--out', 'one.html']]) {
        const { code, stdout, stderr } = await run('report', name, ...form);
        expect(code).toBe(1);
        if (!form.includes('--json')) expect(stdout + stderr).toMatch(/^A person should look at 1 order$/m);
      }
    },
  );

  it('changes has who decided and why, of the period alone', async () => {
    const { code, stdout } = await run('report', 'changes', '--from', '2026-01-02', '--to', '2026-01-04', '--json');
    expect(code).toBe(0);
    const { facts, sections } = JSON.parse(stdout) as { facts: unknown; sections: Record<string, unknown[]> };
    expect(facts).toEqual({ account: 'default', from: '2026-01-02T00:00:00.000Z', to: '2026-01-04T00:00:00.000Z' });
    expect(sections['changes']).toEqual([
      {
        id: 2,
        observed_at: '2026-01-03T00:00:01.000Z',
        external_order_id: 'b',
        field: 'state',
        old_value: 'pending',
        new_value: 'cancelled',
        exchange_time: null,
        source: 'operator',
        actor: 'anna',
        reason: 'a mistake',
      },
    ]);
    const wrong = await run('report', 'changes', '--from', '2026-01-04', '--to', '2026-01-02');
    expect([wrong.code, wrong.stdout]).toEqual([64, '']);
  });
});
