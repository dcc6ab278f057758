import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { SOCKET_CALLER } from '../../../src/extensions/api/caller.ts';
import { writeEnvelope } from '../../../src/extensions/api/envelope.ts';
import { EXCHANGE_OPERATIONS } from '../../../src/extensions/api/addresses.ts';
import type { AskedOperation } from '../../../src/extensions/api/operation.ts';
import { CLIENT_OPERATIONS } from '../../../src/extensions/clients/addresses.ts';
import type { HttpRequest } from '../../../src/exchange/transport/http.ts';
import { testClock } from '../../support/test-clock.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground, NEVER, sandbox } from '../ground.ts';
import { ASKED, oddAnswer, type OddAnswer } from '../odd-answers.ts';

const HOUR = 3_600_000;
/** An order is answered oddly so often, and as it should be after that. */
const MOST_ODD = 2;
/** An outcome that is not known is verified ten times, and held at last. */
const WAITS = [0, 0.02, 1, ...Array.from({ length: 12 }, () => 25)];
const UNSETTLED = ['pending', 'sending', 'unknown'];
/** After these a create is sent again. */
const REFUSALS: readonly number[] = [401, 403, 429];
const INPUT = { linkId: 'l1', email: 'a@b.example', level: 'MAIN', reference: null, id: 'p1', externalOrderId: 'x' };

/** Answers of the exchange: an odd one speaks of its order alone, and what is recorded is what came. */
const OPERATIONS: Readonly<Record<string, AskedOperation>> = { ...CLIENT_OPERATIONS, ...EXCHANGE_OPERATIONS };

export const answers: Entry<OddAnswer> = {
  name: 'answers',
  inputs: oddAnswer,
  inputsAProgram: 10,
  async open() {
    const clock = testClock(BEGINNING);
    const rest = sandbox(clock);
    let odd: { readonly id: string; readonly answer: OddAnswer } | undefined;
    let left = 0;
    const bodies = new Set<string>();
    const answer = (request: HttpRequest) => {
      if (odd === undefined || left === 0 || callOf(request, odd.id) !== odd.answer.call) return rest.answer(request);
      // An exchange that says that it has not taken a request has not: there is no other reading of these.
      if (!REFUSALS.includes(odd.answer.status)) void rest.answer(request);
      left -= 1;
      const body = odd.answer.body.replaceAll(ASKED, () => JSON.stringify(odd?.id).slice(1, -1));
      bodies.add(body);
      const { status, retryAfter } = odd.answer;
      return { status, body, ...(retryAfter !== undefined && { retryAfter }) };
    };
    const environment = { ORDER_SYNC_FOLLOW_FINAL_STATUSES: 'COMPLETED' };
    const on = await ground({ clock, answer: (request) => answer(request), environment });
    const { app, merchant } = on;
    const insert = merchant.prepare(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency) values (?, '1.5', 'BTC', 'EUR')`,
    );
    const stateOf = merchant.prepare('select state from merchant_orders where external_order_id = ?').pluck();
    const recordOf = merchant.prepare('select body from order_records where external_order_id = ?').pluck();
    let given = 0;
    return {
      async give(input) {
        given += 1;
        const [id, good] = [`odd-${given}`, `good-${given}`];
        odd = { id, answer: input };
        left = MOST_ODD;
        bodies.clear();
        if (input.call !== 'create' && input.call !== 'lookup') {
          await askForPerson(input);
        } else {
          insert.run(id);
          insert.run(good);
        }
        // A hold of the account, such as a 429, ends within a day; an order that is not found is held after one.
        let state: string | undefined;
        for (const hours of WAITS) {
          clock.advance(hours * HOUR);
          await createPass(app, NEVER);
          await followPass(app, 'all', NEVER);
          state = stateOf.get(id) as string | undefined;
          if (stateOf.get(good) === 'final' && !UNSETTLED.includes(state ?? '')) break;
        }
        const other = stateOf.get(good) as string | undefined;
        if (other !== undefined && other !== 'final') broken(`another order is ${other}`);
        if (UNSETTLED.includes(state ?? '')) broken(`the order is ${state}`);
        const kept = recordOf.get(id) as string | undefined;
        const isOurs = kept === undefined || bodies.has(kept) || kept.includes('"sandbox-');
        if (!isOurs) broken(`a record was kept that was never sent: ${kept}`);
        const { duplicated } = rest.exchange.census();
        if (duplicated.length > 0) broken(`created twice: ${duplicated.join()}`);
      },
      [Symbol.asyncDispose]: () => on[Symbol.asyncDispose](),
    };

    /** Through what the control socket and the commands do. */
    async function askForPerson({ call }: OddAnswer): Promise<void> {
      const asked = OPERATIONS[call ?? ''];
      if (asked === undefined) throw new Error(`no operation is ${call}`);
      const operation = await asked.load();
      const deps = { ...app, wakeCreates: () => {}, caller: SOCKET_CALLER };
      const { body, httpStatus } = writeEnvelope(await operation.run(deps, INPUT, NEVER));
      const { ok } = JSON.parse(body) as { ok: unknown };
      if (typeof ok !== 'boolean' || ok !== httpStatus < 300) broken(`the answer for people is ${httpStatus} ${body}`);
      if (httpStatus === 500) broken(`it failed: ${body}`);
    }
  },
};

/** The call of a request, if it is one of this order, or of a person. */
function callOf({ method, path, body = '' }: HttpRequest, id: string): string | undefined {
  const { pathname, searchParams } = new URL(path, 'http://exchange');
  if (pathname.endsWith('/orders/request') && method === 'POST') {
    return (JSON.parse(body) as { externalOrderId: string }).externalOrderId === id ? 'create' : undefined;
  }
  const asked = searchParams.get('externalOrderId');
  if (asked !== null) return { [id]: 'lookup', [INPUT.externalOrderId]: 'lookUpOrder' }[asked];
  const known: readonly (readonly [string, RegExp])[] = [
    ['showPreOrder', /orders\/request\/p1$/],
    ['validateEmail', /client\/validate\/email$/],
    ['verificationToken', /idv\/MAIN$/],
    ['requestPhotos', /external\/upload$/],
    ['listCards', /customer\/card$/],
    ['showCustomer', /cardprov\/customer$/],
    ['sdkToken', /sdk\/token$/],
    ['showLink', /client\/l1$/],
    ['createLink', /client$/],
  ];
  return known.find(([, pattern]) => pattern.test(pathname))?.[0];
}
