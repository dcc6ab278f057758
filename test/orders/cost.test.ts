import { expect, it } from 'vitest';
import { createPass } from '../../src/orders/create.ts';
import { followPass } from '../../src/orders/follow.ts';
import { ofSqlite } from '../support/database.ts';
import { heardStatements } from '../support/heard-statements.ts';
import { echo, NOT_FOUND, record, type ScriptedAnswer } from '../support/scripted-exchange.ts';
import { scriptedProgram } from '../support/test-program.ts';
import { DAY } from '../support/tracking.ts';
import { unguarded } from '../support/unguarded.ts';

const NEVER = new AbortController().signal;
const FINAL = { status: 'DONE', completionDate: '2026-01-05T12:00:00Z', serverDate: '2026-01-05T12:00:00Z' };

it('an order costs these statements and commits on SQLite', ofSqlite('statements are counted there'), async () => {
  let [statements, commits] = [0, 0];
  const wrap = heardStatements((text) => {
    if (/^\s*(select|insert|update|delete|with)\b/i.test(text)) statements += 1;
    if (/^commit\b/i.test(text)) commits += 1;
  });
  const { program, exchange } = await scriptedProgram({ overrides: { store: { wrap } } });
  let answer: ScriptedAnswer = NOT_FOUND;
  exchange.answer = (request) => (request.method === 'POST' ? echo(request) : answer);
  const costOf = async (pass: () => Promise<unknown>) => {
    [statements, commits] = [0, 0];
    await pass();
    return [statements, commits];
  };
  const follow = async (next: ScriptedAnswer) => {
    answer = next;
    program.clock.advance(DAY);
    await followPass(program.app, 'all', NEVER);
  };
  program.insert({ external_order_id: 'a' });
  // The order is missed for a day, so a finding is opened and resolved: each is an event.
  // Each pass with all that it asks of the database besides; the lease of requests is one of two commits.
  expect({
    create: await costOf(() => createPass(program.app, NEVER)),
    absent: await costOf(() => follow(NOT_FOUND)),
    found: await costOf(() => follow(record('a', { status: 'PROCESSING' }))),
    unchanged: await costOf(() => follow(record('a', { status: 'PROCESSING' }))),
    final: await costOf(() => follow(record('a', FINAL))),
    nothing: await costOf(() => createPass(program.app, NEVER)),
  }).toEqual({
    create: [21, 2],
    absent: [18, 2],
    found: [19, 2],
    unchanged: [12, 2],
    final: [19, 2],
    nothing: [4, 0],
  });
});

it(
  'a new owner that finds nothing wrong commits nothing of its own, and orders found sending share a commit',
  ofSqlite('statements are counted there'),
  async () => {
    let commits = 0;
    const wrap = heardStatements((text) => {
      if (/^commit\b/i.test(text)) commits += 1;
    });
    const { program } = await scriptedProgram({ overrides: { store: { wrap } } });
    program.insert({ external_order_id: 'a' }, { external_order_id: 'b' }, { external_order_id: 'c' });
    const commitsOfStart = async () => {
      commits = 0;
      await program.restart();
      return commits;
    };
    const ofClaim = await commitsOfStart();
    unguarded(program.merchant, () =>
      program.merchant.exec(
        `update merchant_orders set revision = revision + 1, state = 'sending', attempts = 1, next_action_at = null`,
      ),
    );
    expect([ofClaim, await commitsOfStart()]).toEqual([1, 2]);
  },
);
