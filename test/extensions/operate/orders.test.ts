import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeEach, describe, expect, it } from 'vitest';
import { runProgram } from '../../support/cli-function.ts';
import { commandFolder } from '../../support/folders.ts';
import { runCommand, startCommand } from '../../support/cli-process.ts';

const EXACT = '12345678901234567.123456789012345678';
const HEADER = 'external_order_id,asset,from_currency,to_currency';

const at = commandFolder();
const orders = (args: readonly string[]) => runProgram(['orders', ...args], at.options);
const ordersProcess = (args: readonly string[], input = '') =>
  runCommand(['orders', ...args], { ...at.options, input });
const added = (id: string, asset: string, ...more: string[]) => [
  'add',
  '--external-order-id',
  id,
  '--asset',
  asset,
  '--from',
  'BTC',
  '--to',
  'EUR',
  ...more,
];
const add = (...order: Parameters<typeof added>) => orders(added(...order));

function query<Row>(sql: string): Row[] {
  const merchant = new Database(at.path);
  try {
    return merchant.prepare(sql).all() as Row[];
  } finally {
    merchant.close();
  }
}
function execute(sql: string): void {
  const merchant = new Database(at.path);
  merchant.exec(sql);
  merchant.close();
}
const ids = () =>
  query<{ id: string }>('select external_order_id as id from merchant_orders order by id').map(({ id }) => id);

describe('orders add', () => {
  it('inserts the order with every digit, once', async () => {
    const first = await ordersProcess(added('shop-1', EXACT, '--bonus', '0.10', '--crypto-address', 'addr'));
    expect(first).toEqual({ code: 0, signal: null, stdout: '"shop-1" is inserted\n', stderr: '' });
    const again = await add('shop-1', EXACT, '--bonus', '0.1', '--crypto-address', 'addr');
    expect(again).toMatchObject({ code: 0, stdout: '"shop-1" is there already, with this content\n', stderr: '' });
    expect(
      query('select asset, from_currency, to_currency, order_type, bonus, crypto_address, state from merchant_orders'),
    ).toEqual([
      {
        asset: EXACT,
        from_currency: 'BTC',
        to_currency: 'EUR',
        order_type: 'DEPOSIT',
        bonus: '0.10',
        crypto_address: 'addr',
        state: 'pending',
      },
    ]);
  });

  it('refuses in one line what cannot be an order, or is another one of the same id: exit 65', async () => {
    execute(`insert into merchant_orders (${HEADER}) values ('shop-1', '1', 'BTC', 'EUR')`);
    const [bad, other, hidden] = await Promise.all([
      add('shop-2', '0', '--order-type', ''),
      add('shop-1', '2', '--payment-token', 'canary'),
      add('shop-3', '2', '--payment-token', '<hidden>'),
    ]);
    expect(hidden.code).toBe(65);
    expect(bad).toMatchObject({
      code: 65,
      stdout: '',
      stderr: 'order-sync: asset must be positive, is "0"; order_type is empty; nothing was inserted\n',
    });
    expect(other).toMatchObject({
      code: 65,
      stdout: '',
      stderr: expect.stringMatching(/^order-sync: "shop-1" [^\n]*asset, payment_token[^\n]*\n$/) as string,
    });
    expect(ids()).toEqual(['shop-1']);
  });

  it('says so when it has made a new database, which only its owner can open', async () => {
    const path = join(at.folder, 'new.db');
    const environment = { ORDER_SYNC_DATABASE_URL: `sqlite:${path}` };
    expect(await runCommand(['orders', ...added('shop-1', '1')], { cwd: at.folder, environment })).toMatchObject({
      code: 0,
      stderr: `made a new database: ${path}\n`,
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });
});

describe('orders import', () => {
  it('reads a file, or standard input, and says what it did', async () => {
    writeFileSync(join(at.folder, 'january.CSV'), `${HEADER}\na,${EXACT},BTC,EUR\nb,1,BTC,EUR\n`);
    expect(await orders(['import', 'january.CSV'])).toMatchObject({
      code: 0,
      stdout: '2 read, 2 inserted, 0 already present\n',
      stderr: '',
    });
    const piped = `{"external_order_id":"a","asset":${EXACT},"from_currency":"BTC","to_currency":"EUR"}
{"external_order_id":"c","asset":${EXACT},"from_currency":"BTC","to_currency":"EUR"}`;
    const { code, stdout, stderr } = await ordersProcess(['import', '-', '--format', 'ndjson', '--json'], piped);
    expect([code, stderr]).toEqual([0, '']);
    expect(JSON.parse(stdout)).toEqual({ read: 2, inserted: 1, alreadyPresent: 1, problems: 0 });
    expect(query('select external_order_id as id, asset from merchant_orders order by id')).toEqual([
      { id: 'a', asset: EXACT },
      { id: 'b', asset: '1' },
      { id: 'c', asset: EXACT },
    ]);
  });

  it('names each problem by file, line and column on stderr, inserts nothing, and ends with 65', async () => {
    const lines = Array.from({ length: 60 }, (_, index) => `o${index},0,BTC,EUR\n`).join('');
    writeFileSync(join(at.folder, 'bad.csv'), `${HEADER}\ngood,1,BTC,EUR\n"odd\u001b[31m",1,BTC\n${lines}`);
    const { code, stdout, stderr } = await ordersProcess(['import', 'bad.csv']);
    expect([code, stdout]).toEqual([65, '62 read, 0 inserted, 0 already present\n'.replace('62', '61')]);
    const told = stderr.trimEnd().split('\n');
    expect(told.slice(0, 2)).toEqual([
      'bad.csv:3: has 3 fields, the header has 4',
      'bad.csv:4: asset: must be positive, is "0"',
    ]);
    expect(told).toHaveLength(51);
    expect(told.at(-1)).toBe(
      '61 problems, the first 50 are named above; nothing was inserted; correct the file and import it again',
    );
    expect(ids()).toEqual([]);
  });

  it('does not let a file steer the terminal', async () => {
    const { stderr } = await ordersProcess(['import', '-', '--format', 'csv'], `\u001b]0;owned\u0007\u009b31m\n`);
    expect(stderr).toMatch(/^-:1: /);
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
  });

  it.each([
    ['nowhere.csv', 74, /^order-sync: the file cannot be read: ENOENT: [^\n]*'nowhere\.csv'\n$/],
    ['folder.csv', 65, /^order-sync: folder\.csv is a folder; name a file\n$/],
  ])('says that there is no file to read: %s ends with %i', async (file, exit, message) => {
    mkdirSync(join(at.folder, 'folder.csv'));
    const { code, stdout, stderr } = await orders(['import', file]);
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toMatch(message);
  });
});

describe('orders list', () => {
  it('shows the newest, says on stderr that there are more, and keeps every digit', async () => {
    for (const day of [1, 2, 3]) {
      execute(`insert into merchant_orders (external_order_id, asset, from_currency, to_currency, created_at)
        values ('shop-${day}', '${EXACT}', 'BTC', 'EUR', '2026-01-0${day}T00:00:00.000Z')`);
    }
    const [table, json] = await Promise.all([
      orders(['list', '--limit', '2']),
      orders(['list', '--json', '--state', 'pending']),
    ]);
    expect([table.code, table.stderr]).toEqual([0, 'only the first 2 are shown: --limit shows more\n']);
    expect(table.stdout.match(/shop-\d/g)).toEqual(['shop-3', 'shop-2']);
    expect(table.stdout).toContain(EXACT);
    expect(table.stdout).not.toContain('\u001b');
    expect([json.code, json.stderr]).toEqual([0, '']);
    expect(JSON.parse(json.stdout)).toEqual([
      expect.objectContaining({ external_order_id: 'shop-3', asset: EXACT, state: 'pending' }),
      expect.objectContaining({ external_order_id: 'shop-2' }),
      expect.objectContaining({ external_order_id: 'shop-1' }),
    ]);
  });

  it('hides payment tokens unless they are asked for', async () => {
    await add('shop-1', '2', '--payment-token', 'canary');
    const [json, revealed] = await Promise.all([orders(['list', '--json']), orders(['list', '--json', '--reveal'])]);
    expect(JSON.parse(json.stdout)).toMatchObject([{ payment_token: '<hidden>' }]);
    expect(JSON.parse(revealed.stdout)).toMatchObject([{ payment_token: 'canary' }]);
  });

  it('ends well when its reader has seen enough', async () => {
    execute(`with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
      insert into merchant_orders (external_order_id, asset) select 'shop-' || i, '1' from n`);
    const listing = startCommand(['orders', 'list', '--json', '--limit', '20000'], at.options);
    listing.process.stdout?.once('data', () => listing.process.stdout?.destroy());
    expect(await listing.finished).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('orders show', () => {
  const body = `{"externalOrderId":"shop-1","order":{"exchangeOperation":{"inputAsset":${EXACT}}},"odd":"\u009b31m"}`;
  beforeEach(() =>
    execute(`
      insert into merchant_orders (external_order_id, asset) values ('shop-1', '${EXACT}'), ('new', '1');
      insert into events (account, type, subject, field, old_value, new_value, observed_at, source, previous_hash, hash)
        values ('default', 'order', 'shop-1', 'state', 'pending', 'sending', '2026-01-01T00:00:00.000Z', 'create', '', ''),
          ('default', 'order', 'shop-1', 'state', 'sending', 'accepted', '2026-01-01T00:00:01.000Z', 'create', '', '');
      insert into order_records (account, external_order_id, body, received_at)
        values ('default', 'shop-1', '${body}', '2026-01-01T00:00:02.000Z')`),
  );

  it('hides the payment token, of the row and of what the exchange said, unless it is asked for', async () => {
    execute(`insert into merchant_orders (external_order_id, asset, payment_token) values ('paid', '2', 'canary')`);
    const said = '{"paymentToken" : "of \\"canary","asset":1.50}';
    execute(`insert into pre_orders values ('default', 'paid', '${said}', '2026-01-01T00:00:02.000Z')`);
    const [text, json, revealed] = await Promise.all([
      orders(['show', 'paid']),
      orders(['show', 'paid', '--json']),
      orders(['show', 'paid', '--json', '--reveal']),
    ]);
    expect(text.stdout).not.toContain('canary');
    expect(JSON.parse(json.stdout)).toMatchObject({
      order: { payment_token: '<hidden>' },
      preOrder: '{"paymentToken":"<hidden>","asset":1.50}',
    });
    expect(JSON.parse(revealed.stdout)).toMatchObject({ order: { payment_token: 'canary' }, preOrder: said });
  });

  it('has the row, its history in order, and what the exchange said', async () => {
    const [text, json, young] = await Promise.all([
      orders(['show', 'shop-1']),
      orders(['show', 'shop-1', '--json']),
      orders(['show', 'new']),
    ]);
    expect([text.code, text.stderr, json.code, json.stderr, young.code]).toEqual([0, '', 0, '', 0]);
    expect(text.stdout).toMatch(new RegExp(`^asset +${EXACT}$`, 'm'));
    expect(text.stdout).toMatch(/ state +pending +sending +create\n.* state +sending +accepted +create\n/);
    expect(text.stdout).toContain('\npre-order: none\n');
    expect(text.stdout).toMatch(new RegExp(`\\nrecord, as received\\nexternal order id +shop-1\\n[^]* ${EXACT}\\n`));
    expect(text.stdout).toContain(String.raw`\u009b31m`);
    expect(JSON.parse(json.stdout)).toEqual({
      order: expect.objectContaining({ external_order_id: 'shop-1', asset: EXACT }) as unknown,
      events: [
        expect.objectContaining({ new_value: 'sending' }) as unknown,
        expect.objectContaining({ new_value: 'accepted' }) as unknown,
      ],
      preOrder: null,
      record: body,
    });
    expect(young.stdout).toContain('history: nothing has happened yet\n');
  });

  it('of an order that is not there ends with 2 and a line that says so', async () => {
    expect(await ordersProcess(['show', 'Shop-1'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: 'order-sync: there is no order "Shop-1" in the table\n',
    });
  });

  it.each(['show', 'explain'])('names the account of an order that the settings do not name: %s', async (name) => {
    await add('shop-1', '1');
    execute("update merchant_orders set account = 'defualt' || char(27)");
    const { code, stderr } = await ordersProcess([name, 'shop-1']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(String.raw`"defualt\u001b"`)]);
  });

  it.each(['show', 'explain'])('asks for an id in place of a placeholder that was pasted: %s', async (name) => {
    const { code, stderr } = await ordersProcess([name, 'ORDER']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('in place of ORDER')]);
  });
});
