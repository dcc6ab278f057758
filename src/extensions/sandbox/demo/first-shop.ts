import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shellWord } from '../../../base/text.ts';
import { controlSocketOf } from '../../api/asking/transport.ts';
import type { Stage } from './stage.ts';

const CLIENT = 'order-sync/client';
const ORDER = { external_order_id: 'mine-1', asset: '0.25', from_currency: 'BTC', to_currency: 'EUR' };

/** Three lines for a shell in this folder: a shop that adds an order to the demonstration, and follows it. */
export async function firstShop({ store, shops, config }: Pick<Stage, 'store' | 'shops' | 'config'>): Promise<string> {
  const account = shops[0]?.account;
  const socket = (await store.driverOf(account === undefined ? [] : [account]))?.socket ?? controlSocketOf(config);
  const text = (value: unknown) => JSON.stringify(value);
  const code = [
    `import { OrderSync } from ${text(clientHere())}; const shop = new OrderSync(${text({ socket, account })});`,
    `console.log(await shop.orders.add(${text(ORDER)}));`,
    `for await (const { type, data } of shop.events.follow({ order: "${ORDER.external_order_id}" })) console.log(type, data.newValue);`,
  ];
  return `  ${shellWord(process.execPath)} --input-type=module -e ${shellWord(code.join('\n  '))}`;
}

/** Returns the name of the client if a program in this folder finds it by name, else its address. */
function clientHere(): string {
  const address = import.meta.resolve(CLIENT);
  try {
    const found = createRequire(join(process.cwd(), 'shop.js')).resolve(CLIENT);
    return found === fileURLToPath(address) ? CLIENT : address;
  } catch {
    return address;
  }
}
