import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bundleShop, SHOP } from '../../build/shop.ts';
import { controlSocket } from '../support/control-socket.ts';
import { NODES } from '../support/nodes.ts';

const MOST_BYTES = 30_000;

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'order-sync-shop-'));
  await bundleShop(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const PROGRAM = `
  const [folder, socket] = process.argv.slice(1);
  const { OrderSync } = await import(folder + '/client.js');
  const { verify } = await import(folder + '/webhooks.js');
  const client = new OrderSync({ socket });
  const following = client.events.follow();
  await client.orders.add({ external_order_id: 'a', asset: '0.10', from_currency: 'BTC', to_currency: 'EUR' });
  await client.sync();
  const { order } = await client.orders.get('a');
  const record = await client.preOrders.get(order.pre_order_id);
  const { value: event } = await following.next();
  await following.return();
  const reason = await verify('{}', {}, 'whsec_AAAA').catch((error) => error.reason);
  console.log(JSON.stringify([order.asset, record.asset, event.data.externalOrderId, reason]));
`;

describe('what a shop imports', () => {
  it(`is at most ${MOST_BYTES} bytes of JavaScript in all`, () => {
    const code = readdirSync(folder).filter((name) => name.endsWith('.js'));
    expect(code.toSorted()).toEqual(SHOP.map((one) => `${one}.js`).toSorted());
    expect(code.reduce((bytes, name) => bytes + statSync(join(folder, name)).size, 0)).toBeLessThanOrEqual(MOST_BYTES);
  });

  it.each(NODES)('runs on %s', async (node) => {
    const { socketPath, program } = await controlSocket();
    program.clock.advance(Date.now() - program.clock.now().getTime() + 60_000);
    const args = ['--input-type=module', '-e', PROGRAM, folder, socketPath];
    const { stdout, stderr } = await promisify(execFile)(node, args, { env: {} });
    expect([stderr, JSON.parse(stdout)]).toEqual(['', ['0.10', '0.10', 'a', 'header-missing']]);
  });
});
