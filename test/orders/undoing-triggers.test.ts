import { describe, expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { isSqlite } from '../support/database.ts';
import { scriptedProgram, type TestProgram } from '../support/test-program.ts';
import { MINUTE } from '../support/tracking.ts';

const NEVER = new AbortController().signal;
const TAKES_BACK = `update merchant_orders set state = 'pending', state_reason = 'not by this shop', revision = revision + 1
  where external_order_id = 'a' and state = 'sending'`;

/** A trigger of the shop's that has a function of its own in PostgreSQL. */
function functionTrigger({ merchant }: TestProgram, when: string, body: string, how = ''): void {
  merchant.exec(`create function of_the_shop() returns trigger language plpgsql as $$ begin ${body} end $$`);
  merchant.exec(`create ${when} on merchant_orders ${how} for each row execute function of_the_shop()`);
}

/** Triggers by what they do as an intent is written: none of them raises. */
const TRIGGERS: Readonly<Record<string, (program: TestProgram) => void>> = isSqlite()
  ? {
      'a BEFORE trigger that skips the row': ({ merchant }) => {
        merchant.exec(`create trigger of_the_shop before update of state on merchant_orders when new.state = 'sending'
          begin select raise(ignore); end`);
      },
      'an AFTER trigger that takes the state back': ({ merchant }) => {
        merchant.exec(`create trigger of_the_shop after update of state on merchant_orders when new.state = 'sending'
          begin ${TAKES_BACK}; end`);
      },
    }
  : {
      'a BEFORE trigger that puts the old row back': (program) =>
        functionTrigger(program, 'trigger a before update', 'return old;'),
      'a BEFORE trigger that skips the row': (program) =>
        functionTrigger(program, 'trigger a before update', 'return null;'),
      'an AFTER trigger that takes the state back': (program) =>
        functionTrigger(
          program,
          'trigger a after update',
          `if new.state = 'sending' then ${TAKES_BACK}; end if; return null;`,
        ),
      'a deferred trigger that takes the state back': (program) =>
        functionTrigger(
          program,
          'constraint trigger a after update',
          `if new.state = 'sending' then ${TAKES_BACK}; end if; return null;`,
          'deferrable initially deferred',
        ),
      'a trigger that is deferred by another one': (program) => {
        functionTrigger(
          program,
          'constraint trigger a after update',
          `if new.state = 'sending' then ${TAKES_BACK}; end if; return null;`,
          'deferrable initially immediate',
        );
        program.merchant.exec(`create function defers() returns trigger language plpgsql as $$
          begin set constraints all deferred; return new; end $$`);
        program.merchant.exec(
          'create trigger b before update on merchant_orders for each row execute function defers()',
        );
      },
    };

describe.each(Object.entries(TRIGGERS))('%s', (name, make) => {
  it('has nothing sent: the intent does not stand when the request would go by it', async () => {
    const { program, exchange } = await scriptedProgram();
    make(program);
    program.insert({ external_order_id: 'a' }, { external_order_id: 'b' });
    for (let pass = 0; pass < 3; pass += 1) {
      await createPass(program.app, NEVER);
      program.clock.advance(6 * MINUTE);
    }
    const sent = exchange.requests.filter(({ method, externalOrderId: id }) => method === 'POST' && id === 'a');
    expect(sent).toEqual([]);
    expect(program.events('a').filter((event) => event.endsWith('sending'))).toEqual([]);
    expect(program.log.with(/cannot be written/).length).toBeGreaterThan(0);
    if (!name.startsWith('a BEFORE')) expect(program.row('b')['state']).toBe('accepted');
  });
});
