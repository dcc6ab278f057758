import { accountFact } from '../../src/store/tables/accounts.ts';
import { classTexts } from '../../src/extensions/operate/finding-classes.ts';
import type { FindingClassName } from '../../src/findings/rules/classes.ts';
import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { decideOrders } from '../../src/extensions/operate/decide-orders.ts';
import { buildStory, type Story } from '../../src/extensions/reports/story/story.ts';
import type { Judgement } from '../../src/extensions/operate/rules/judgement.ts';
import { storyOf } from '../../src/extensions/reports/story/read-story.ts';
import { configOf } from '../../src/settings/config.ts';
import { readStory } from '../../src/extensions/reports/tables/story.ts';
import { scriptedProgram } from '../support/test-program.ts';
import { echo, NOT_FOUND, record, refusal, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { DAY, HOUR, MINUTE, SECOND } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const ENDED = { completionDate: '2026-01-05T12:00:07Z', serverDate: '2026-01-05T12:00:08Z' };

/** Order `a` on its way, and its story as the program tells it. */
async function ordered(create?: ScriptedAnswer, asset?: string) {
  const { program, exchange } = await scriptedProgram();
  const answers: { create: ScriptedAnswer | undefined; lookup: ScriptedAnswer } = { create, lookup: NOT_FOUND };
  exchange.answer = (request) => (request.method === 'POST' ? (answers.create ?? echo(request)) : answers.lookup);
  program.insert({ external_order_id: 'a', asset: asset ?? '1.50' });
  const pass = async (ms: number) => {
    program.clock.advance(ms);
    await createPass(program.app, NEVER);
    await followPass(program.app, 'due', NEVER);
  };
  const tell = async (asOf: Date): Promise<Story> => {
    const rows = await readStory(program.app.store, 'default', 'a');
    if (rows === undefined) throw new Error('there is no order');
    return buildStory(rows, asOf, program.app.settings);
  };
  return {
    program,
    answers,
    pass,
    tell,
    decide: async (judgement: Judgement) => {
      const action = { judgement, actor: 'anna', reason: 'asked the exchange' };
      for await (const { kind } of decideOrders(program.app, [{ externalOrderId: 'a' }], action)) {
        expect(kind).toBe('done');
      }
    },
    /** Every moment of the story: what happened, and what was to happen next; checks that each is a prefix. */
    replay: async () => {
      const whole = await tell(program.clock.now());
      const lines: string[] = [];
      for (const at of new Set(whole.told.map((one) => one.at))) {
        const then = await tell(new Date(at));
        expect(then.told).toEqual(whole.told.filter((one) => one.at <= at));
        lines.push(...then.told.filter((one) => one.at === at).map(({ text }) => `${short(at)} ${text}`));
        lines.push(...then.next.map((next) => `    > ${next}`));
      }
      lines.push(`${short(whole.asOf)} is ${whole.state}`, ...whole.next.map((next) => `    > ${next}`));
      return lines.map((line) => withoutTexts(line.replaceAll('2026-01-05T', ''))).join('\n');
    },
  };
}

function short(at: string): string {
  return at.replace(/^2026-01-05T/, '');
}

/** The line without what its class of findings means and advises: those sentences are the table's. */
function withoutTexts(line: string): string {
  const [, name] = /[Ff]inding ([A-Z_]+)/.exec(line) ?? [];
  if (name === undefined) return line;
  const { meaning } = classTexts(name as FindingClassName);
  return line.replace(meaning, '(meaning)').replace(/(finding [A-Z_]+\.) (?!A person has decided).+/, '$1 (advice)');
}

describe('the story of an order', () => {
  it('that was accepted, became an order, and ended', async () => {
    const { answers, pass, replay } = await ordered();
    await pass(0);
    await pass(5 * SECOND);
    answers.lookup = record('a', { modificationDate: '2026-01-05T12:00:06Z' });
    await pass(5 * SECOND);
    answers.lookup = record('a', { status: 'COMPLETED', modificationDate: '2026-01-05T12:00:07Z', ...ENDED });
    await pass(10 * SECOND);
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
      12:00:00.000Z order-sync began create request 1.
      12:00:00.000Z The exchange accepted the order as pre-order p1: 1.50 BTC to EUR.
          > The order is looked up until it appears at the exchange.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT
      12:00:10.000Z The order appeared at the exchange. order-sync follows it.
      12:00:10.000Z The status of the order is REQUEST (dated 12:00:06Z by the exchange).
      12:00:10.000Z The status of the crypto transaction is NEW (dated 12:00:06Z by the exchange).
      12:00:10.000Z The status of the fiat transaction is NEW (dated 12:00:06Z by the exchange).
          > The order is followed until it ends.
      12:00:20.000Z The status of the order changed from REQUEST to COMPLETED (dated 12:00:07Z by the exchange).
      12:00:20.000Z The modificationDate of the record changed from 12:00:06Z to 12:00:07Z.
      12:00:20.000Z The completionDate of the record changed from nothing to 12:00:07Z.
      12:00:20.000Z The order ended at the exchange.
      12:00:20.000Z order-sync received the newest record of the order: id o1, 1.5 BTC in.
          > The order is looked up again, in case it still changes, next at 13:00:20.000Z.
      12:00:20.000Z is final
          > The order is looked up again, in case it still changes, next at 13:00:20.000Z."
    `);
  });

  it('whose outcome was unknown until a look-up found it', async () => {
    const { answers, pass, replay } = await ordered(refusal(503));
    await pass(0);
    await pass(5 * SECOND);
    answers.lookup = record('a');
    await pass(10 * SECOND);
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
      12:00:00.000Z order-sync began create request 1.
      12:00:00.000Z It is not known whether the exchange has the order: HTTP 503. order-sync looks the order up instead of sending it again.
      12:00:00.000Z Finding CREATE_UNKNOWN (error): (meaning)
          > The order is looked up, next by 12:00:05.000Z if nothing delays it. If no look-up finds the order, it is held for a person to decide.
          > To see what the exchange answers now:
          > order-sync exchange lookup a
          > To decide sooner, if you know what became of the order:
          > If the exchange has a pre-order of this order, to follow the order:
          > order-sync orders resolve a --as exists --pre-order-id PRE_ORDER_ID --reason TEXT
          > If the exchange answers that it has no pre-order of this order, to send the order again:
          > order-sync orders resolve a --as not-created --reason TEXT
          > To end the order, without sending it again:
          > order-sync orders resolve a --as abandoned --reason TEXT
          > A person should look at finding CREATE_UNKNOWN. (advice)
      12:00:05.000Z Finding CREATE_UNKNOWN was seen again. Expected: a known outcome. Found: sent 12:00:00.000Z, unknown.
          > The order is looked up, next by 12:00:15.000Z if nothing delays it. If no look-up finds the order, it is held for a person to decide.
          > To see what the exchange answers now:
          > order-sync exchange lookup a
          > To decide sooner, if you know what became of the order:
          > If the exchange has a pre-order of this order, to follow the order:
          > order-sync orders resolve a --as exists --pre-order-id PRE_ORDER_ID --reason TEXT
          > If the exchange answers that it has no pre-order of this order, to send the order again:
          > order-sync orders resolve a --as not-created --reason TEXT
          > To end the order, without sending it again:
          > order-sync orders resolve a --as abandoned --reason TEXT
          > A person should look at finding CREATE_UNKNOWN. (advice)
      12:00:15.000Z The order appeared at the exchange. order-sync follows it.
      12:00:15.000Z The status of the order is REQUEST.
      12:00:15.000Z The status of the crypto transaction is NEW.
      12:00:15.000Z The status of the fiat transaction is NEW.
      12:00:15.000Z order-sync received the newest record of the order: id o1, 1.5 BTC in.
      12:00:15.000Z Finding CREATE_UNKNOWN is resolved: it is no longer true.
          > The order is followed until it ends, next at 12:00:19.500Z.
      12:00:15.000Z is open
          > The order is followed until it ends, next at 12:00:19.500Z."
    `);
  });

  it('that was held until a person knew better', async () => {
    const { program, answers, pass, decide, replay } = await ordered('reset');
    await pass(0);
    for (let days = 0; days < 11; days += 1) await pass(DAY);
    answers.create = undefined;
    program.clock.advance(SECOND);
    await decide({ kind: 'not-created' });
    await pass(SECOND);
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
      12:00:00.000Z order-sync began create request 1.
      12:00:00.000Z It is not known whether the exchange has the order: POST /api/v1/merchant/orders/request: ECONNRESET. order-sync looks the order up instead of sending it again.
      12:00:00.000Z Finding CREATE_UNKNOWN (error): (meaning)
          > The order is looked up, next by 12:00:05.000Z if nothing delays it. If no look-up finds the order, it is held for a person to decide.
          > To see what the exchange answers now:
          > order-sync exchange lookup a
          > To decide sooner, if you know what became of the order:
          > If the exchange has a pre-order of this order, to follow the order:
          > order-sync orders resolve a --as exists --pre-order-id PRE_ORDER_ID --reason TEXT
          > If the exchange answers that it has no pre-order of this order, to send the order again:
          > order-sync orders resolve a --as not-created --reason TEXT
          > To end the order, without sending it again:
          > order-sync orders resolve a --as abandoned --reason TEXT
          > A person should look at finding CREATE_UNKNOWN. (advice)
      2026-01-15T12:00:00.000Z order-sync held the order, so that a person decides: the outcome of the create is unknown and 10 look-ups found no order; a person must ask the exchange and decide.
          > A person must decide:
          > If the exchange has a pre-order of this order, to follow the order:
          > order-sync orders resolve a --as exists --pre-order-id PRE_ORDER_ID --reason TEXT
          > If the exchange answers that it has no pre-order of this order, to send the order again:
          > order-sync orders resolve a --as not-created --reason TEXT
          > To end the order, without sending it again:
          > order-sync orders resolve a --as abandoned --reason TEXT
          > To see what the exchange answers now:
          > order-sync exchange lookup a
          > Until a person decides, the order is looked up once a day, in case it appears, next by 2026-01-16T12:00:00.000Z if nothing delays it.
          > A person should look at finding CREATE_UNKNOWN. (advice)
      2026-01-16T12:00:00.000Z A look-up found no order.
          > A person must decide:
          > If the exchange has a pre-order of this order, to follow the order:
          > order-sync orders resolve a --as exists --pre-order-id PRE_ORDER_ID --reason TEXT
          > If the exchange answers that it has no pre-order of this order, to send the order again:
          > order-sync orders resolve a --as not-created --reason TEXT
          > To end the order, without sending it again:
          > order-sync orders resolve a --as abandoned --reason TEXT
          > To see what the exchange answers now:
          > order-sync exchange lookup a
          > Until a person decides, the order is looked up once a day, in case it appears, next by 2026-01-17T12:00:00.000Z if nothing delays it.
          > A person should look at finding CREATE_UNKNOWN. (advice)
      2026-01-16T12:00:01.000Z anna decided that order-sync sends the order again (it was held): asked the exchange.
      2026-01-16T12:00:01.000Z Finding CREATE_UNKNOWN was seen again. Expected: a known outcome. Found: sent 12:00:00.000Z, pending.
          > The order is sent again when it is due.
          > The order cannot be cancelled: the exchange may already have it. To stop all creates of the account:
          > order-sync pause --reason TEXT
          > For information: finding CREATE_UNKNOWN. A person has decided about the order. The finding only needs to be acknowledged.
          > To acknowledge the findings that a person has looked at:
          > order-sync findings ack 1 --reason TEXT
      2026-01-16T12:00:02.000Z order-sync began create request 2.
      2026-01-16T12:00:02.000Z The exchange accepted the order as pre-order p1: 1.50 BTC to EUR.
      2026-01-16T12:00:02.000Z Finding CREATE_UNKNOWN is resolved: it is no longer true.
          > The order is looked up until it appears at the exchange, next at 2026-01-16T12:00:06.500Z.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT
      2026-01-16T12:00:02.000Z is accepted
          > The order is looked up until it appears at the exchange, next at 2026-01-16T12:00:06.500Z.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT"
    `);
  });

  it('that is held while an accepted pre-order is answered absent offers what will be accepted', async () => {
    const { program, pass } = await ordered('reset');
    const { app, clock, config } = program;
    await pass(0);
    for (let days = 0; days < 11; days += 1) await pass(DAY);
    const fact = { account: 'default', name: 'lookup.acceptedAndAbsent', value: 'b', now: clock.now() };
    await app.store.writer.write((tx) => accountFact(tx, fact));
    const told = await storyOf(app.store, configOf(config, 'default'), 'a', { asOf: clock.now() });
    const offered = told?.story.next.filter((line) => line.includes('--as not-created'));
    expect(offered).toContain('order-sync orders resolve a --as not-created --i-know-it-may-duplicate --reason TEXT');
    expect(offered).not.toContain('order-sync orders resolve a --as not-created --reason TEXT');
  });

  it('that a person resolved, gave up, and that appeared all the same', async () => {
    const { answers, pass, decide, replay } = await ordered('reset');
    await pass(0);
    await pass(MINUTE);
    await decide({ kind: 'exists', preOrderId: 'p7' });
    await pass(HOUR);
    await decide({ kind: 'abandoned' });
    answers.lookup = record('a');
    await pass(HOUR);
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
      12:00:00.000Z order-sync began create request 1.
      12:00:00.000Z It is not known whether the exchange has the order: POST /api/v1/merchant/orders/request: ECONNRESET. order-sync looks the order up instead of sending it again.
      12:00:00.000Z Finding CREATE_UNKNOWN (error): (meaning)
          > The order is looked up, next by 12:00:05.000Z if nothing delays it. If no look-up finds the order, it is held for a person to decide.
          > To see what the exchange answers now:
          > order-sync exchange lookup a
          > To decide sooner, if you know what became of the order:
          > If the exchange has a pre-order of this order, to follow the order:
          > order-sync orders resolve a --as exists --pre-order-id PRE_ORDER_ID --reason TEXT
          > If the exchange answers that it has no pre-order of this order, to send the order again:
          > order-sync orders resolve a --as not-created --reason TEXT
          > To end the order, without sending it again:
          > order-sync orders resolve a --as abandoned --reason TEXT
          > A person should look at finding CREATE_UNKNOWN. (advice)
      12:01:00.000Z anna decided that the exchange has the order as pre-order p7: asked the exchange.
      12:01:00.000Z Finding CREATE_UNKNOWN was seen again. Expected: a known outcome. Found: sent 12:00:00.000Z, unknown.
      12:01:00.000Z Finding CREATE_UNKNOWN is resolved: it is no longer true.
          > The order is looked up until it appears at the exchange.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT
      13:01:00.000Z anna abandoned the order: asked the exchange.
          > The order is looked up again, in case the exchange has it after all, next by 14:01:00.000Z if nothing delays it.
      14:01:00.000Z The exchange has the order, although it was abandoned. order-sync follows it.
      14:01:00.000Z The status of the order is REQUEST.
      14:01:00.000Z The status of the crypto transaction is NEW.
      14:01:00.000Z The status of the fiat transaction is NEW.
      14:01:00.000Z order-sync received the newest record of the order: id o1, 1.5 BTC in.
      14:01:00.000Z Finding UNEXPECTED_ORDER (error): (meaning) Expected: no order: abandoned. Found: o1.
          > The order is followed until it ends, next at 14:01:04.500Z.
          > A person should look at finding UNEXPECTED_ORDER. (advice)
          > To acknowledge the findings that a person has looked at:
          > order-sync findings ack 2 --reason TEXT
      14:01:00.000Z is open
          > The order is followed until it ends, next at 14:01:04.500Z.
          > A person should look at finding UNEXPECTED_ORDER. (advice)
          > To acknowledge the findings that a person has looked at:
          > order-sync findings ack 2 --reason TEXT"
    `);
  });

  it('that was not taken, then rejected, and sent again by a person', async () => {
    const { program, answers, pass, decide, replay } = await ordered({ status: 429, headers: { 'retry-after': '30' } });
    await pass(0);
    answers.create = refusal(400, 'currency is off');
    await pass(HOUR);
    program.clock.advance(SECOND);
    await decide({ kind: 'retry', mayDuplicate: false });
    answers.create = undefined;
    await pass(SECOND);
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
      12:00:00.000Z order-sync began create request 1.
      12:00:00.000Z The order waits to be sent again: not taken: the exchange limits the rate (429).
          > The order is sent again when it is due.
          > To cancel the order before it is sent:
          > order-sync orders cancel a --reason TEXT
      13:00:00.000Z order-sync began create request 2.
      13:00:00.000Z The exchange refused the order: HTTP 400 REFUSED: currency is off.
          > The order is looked up again, in case the exchange has it after all, next by 14:00:00.000Z if nothing delays it.
          > To send the order again, when the cause of the refusal is corrected:
          > order-sync orders retry a --reason TEXT
      13:00:01.000Z anna decided that order-sync sends the order again (it was rejected): asked the exchange.
          > The order is sent again when it is due.
          > To cancel the order before it is sent:
          > order-sync orders cancel a --reason TEXT
      13:00:02.000Z order-sync began create request 3.
      13:00:02.000Z The exchange accepted the order as pre-order p1: 1.50 BTC to EUR.
          > The order is looked up until it appears at the exchange, next at 13:00:06.500Z.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT
      13:00:02.000Z is accepted
          > The order is looked up until it appears at the exchange, next at 13:00:06.500Z.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT"
    `);
  });

  it('that was invalid and corrected', async () => {
    const { program, pass, tell, replay } = await ordered(undefined, '0');
    await pass(0);
    program.clock.advance(SECOND);
    program.merchant.exec(`update merchant_orders set asset = '2' where external_order_id = 'a'`);
    program.merchant.exec(
      `update merchant_orders set revision = revision + 1, next_action_at = '${program.clock.now().toISOString()}'`,
    );
    expect((await tell(program.clock.now())).next).toEqual([
      'The row was changed. It is checked again when the next pass runs.',
    ]);
    await pass(SECOND);
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
      12:00:00.000Z order-sync found the row invalid and sent nothing: asset must be positive, is "0".
          > Nothing, until a person corrects the row, with an UPDATE of its columns, or deletes it. A corrected row is checked again.
          > If the row is right and a setting was wrong, to have the row checked again:
          > order-sync orders retry a --reason TEXT
      12:00:02.000Z The row was corrected and waits to be sent.
      12:00:02.000Z order-sync began create request 1.
      12:00:02.000Z The exchange accepted the order as pre-order p1: 2 BTC to EUR.
          > The order is looked up until it appears at the exchange, next at 12:00:06.500Z.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT
      12:00:02.000Z is accepted
          > The order is looked up until it appears at the exchange, next at 12:00:06.500Z.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT"
    `);
  });

  it('that a person cancelled before it was sent', async () => {
    const { program, decide, replay } = await ordered();
    program.clock.advance(SECOND);
    await decide({ kind: 'cancel' });
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
          > The order is sent when it is due.
          > To cancel the order before it is sent:
          > order-sync orders cancel a --reason TEXT
      12:00:01.000Z anna cancelled the order before it was sent: asked the exchange.
          > The order is looked up again, in case the exchange has it after all, next at 13:00:01.000Z.
      12:00:01.000Z is cancelled
          > The order is looked up again, in case the exchange has it after all, next at 13:00:01.000Z."
    `);
  });

  it('that is final says when it is looked at again, and when no more', async () => {
    const { answers, pass, tell, program } = await ordered();
    answers.lookup = record('a', { status: 'COMPLETED', ...ENDED });
    await pass(0);
    const next = async (ms: number) => {
      await pass(ms);
      return (await tell(program.clock.now())).next;
    };
    const again = (at: string) => [`The order is looked up again, in case it still changes, next at ${at}.`];
    expect(await next(5 * SECOND)).toEqual(again('2026-01-05T13:00:05.000Z'));
    expect(await next(HOUR)).toEqual(again('2026-01-06T12:00:05.000Z'));
    expect(await next(DAY)).toEqual(again('2026-01-12T13:00:05.000Z'));
    expect(await next(7 * DAY)).toEqual(['Nothing: the order has ended.']);
    expect((await tell(new Date('2026-01-06T12:30:00.000Z'))).next).toEqual([
      'The order is looked up again, in case it still changes, next by 2026-01-12T12:00:05.000Z if nothing delays it.',
    ]);
  });

  it('that the exchange no longer finds says so, also when a person has acknowledged the finding', async () => {
    const { answers, pass, tell, program } = await ordered();
    answers.lookup = record('a', { modificationDate: '2026-01-05T12:00:06Z' });
    await pass(0);
    await pass(5 * SECOND);
    const found = await tell(program.clock.now());
    answers.lookup = NOT_FOUND;
    await pass(HOUR);
    const missing = await tell(program.clock.now());
    expect(missing.headline).toBe(`${found.headline}. The exchange no longer finds it`);
    expect(missing.told.map(({ text }) => text)).toContain('A look-up found no order.');
    expect(missing.next.join('\n')).toContain('exchange lookup a');
    program.merchant.exec(
      "update findings set status = 'acknowledged', changed_at = last_seen_at, changed_by = 'anna'",
    );
    const acknowledged = await tell(program.clock.now());
    expect(acknowledged.headline).toBe(missing.headline);
    expect(missing.next).toEqual(expect.arrayContaining([...acknowledged.next]));
    answers.lookup = record('a', { modificationDate: '2026-01-05T12:00:06Z' });
    await pass(HOUR);
    const back = await tell(program.clock.now());
    expect([back.headline, back.next.length]).toEqual([found.headline, found.next.length]);
  });

  it('that was final and opened again', async () => {
    const { answers, pass, replay } = await ordered();
    answers.lookup = record('a', { status: 'COMPLETED', ...ENDED, modificationDate: '2026-01-05T12:00:07Z' });
    await pass(0);
    await pass(5 * SECOND);
    await pass(HOUR);
    answers.lookup = record('a', { status: 'REQUEST', modificationDate: '2026-01-06T12:00:07Z' });
    await pass(DAY);
    expect(await replay()).toMatchInlineSnapshot(`
      "12:00:00.000Z The row was inserted into the database.
      12:00:00.000Z order-sync began create request 1.
      12:00:00.000Z The exchange accepted the order as pre-order p1: 1.50 BTC to EUR.
          > The order is looked up until it appears at the exchange.
          > To abandon the order, if it is certain that it will not appear:
          > order-sync orders resolve a --as abandoned --reason TEXT
      12:00:05.000Z The order appeared at the exchange. It has ended there.
      12:00:05.000Z The status of the order is COMPLETED (dated 12:00:07Z by the exchange).
      12:00:05.000Z The status of the crypto transaction is NEW (dated 12:00:07Z by the exchange).
      12:00:05.000Z The status of the fiat transaction is NEW (dated 12:00:07Z by the exchange).
          > The order is looked up again, in case it still changes, next by 13:00:05.000Z if nothing delays it.
      2026-01-06T13:00:05.000Z The status of the order changed from COMPLETED to REQUEST (dated 2026-01-06T12:00:07Z by the exchange).
      2026-01-06T13:00:05.000Z The modificationDate of the record changed from 12:00:07Z to 2026-01-06T12:00:07Z.
      2026-01-06T13:00:05.000Z The completionDate of the record changed from 12:00:07Z to nothing.
      2026-01-06T13:00:05.000Z The order that was final is open again. order-sync follows it.
      2026-01-06T13:00:05.000Z order-sync received the newest record of the order: id o1, 1.5 BTC in.
      2026-01-06T13:00:05.000Z Finding TERMINAL_REOPENED (warning): (meaning) Expected: final as COMPLETED. Found: open as REQUEST, modified 2026-01-06T12:00:07Z.
          > The order is followed until it ends, next at 2026-01-06T13:00:09.500Z.
          > A person should look at finding TERMINAL_REOPENED. (advice)
          > To acknowledge the findings that a person has looked at:
          > order-sync findings ack 1 --reason TEXT
      2026-01-06T13:00:05.000Z is open
          > The order is followed until it ends, next at 2026-01-06T13:00:09.500Z.
          > A person should look at finding TERMINAL_REOPENED. (advice)
          > To acknowledge the findings that a person has looked at:
          > order-sync findings ack 1 --reason TEXT"
    `);
  });

  it('is empty before it was inserted', async () => {
    const { tell } = await ordered();
    expect(await tell(new Date('2026-01-05T11:59:59.999Z'))).toEqual({
      externalOrderId: 'a',
      asOf: '2026-01-05T11:59:59.999Z',
      state: null,
      outcome: null,
      headline: 'The order did not exist yet',
      pace: null,
      told: [],
      next: ['The row had not been inserted into the database.'],
    });
  });
});
