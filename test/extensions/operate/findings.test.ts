import { rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import Database from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { classTexts } from '../../../src/extensions/operate/finding-classes.ts';
import { FINDING_CLASSES, type FindingClassName } from '../../../src/findings/rules/classes.ts';
import { runProgram } from '../../support/cli-function.ts';
import { commandFolder } from '../../support/folders.ts';

const SEEN = '2026-01-05T12:00:00.000Z';

const at = commandFolder();
const run = (...args: string[]) => runProgram(args, at.options);

/** Findings with the ids 1, 2, …: `CLASS status [order]`. */
function put(...findings: readonly string[]): void {
  const merchant = new Database(at.path);
  merchant.exec('begin');
  const insert = merchant.prepare(
    `insert into findings (account, class, severity, external_order_id, expected, actual, first_seen_at, last_seen_at, status)
     values ('default', ?, ?, ?, '1.50', '1.6', '${SEEN}', '${SEEN}', ?)`,
  );
  for (const [index, finding] of findings.entries()) {
    const [name = '', status = '', order = `shop-${index + 1}`] = finding.split(' ');
    insert.run(name, FINDING_CLASSES[name as keyof typeof FINDING_CLASSES].severity, order, status);
  }
  merchant.exec('commit');
  merchant.close();
}

function rows(): unknown[] {
  const merchant = new Database(at.path, { readonly: true });
  try {
    return merchant.prepare('select id, status, changed_by, reason from findings order by id').all();
  } finally {
    merchant.close();
  }
}

const untouched = (id: number, status = 'open') => ({ id, status, changed_by: null, reason: null });

describe('findings list', () => {
  it('has the open ones, the worst first, what could steer a terminal escaped', async () => {
    put('AMOUNT_MISMATCH open', 'CLOCK_SKEW open =\u001b[2J', 'STUCK resolved');
    const { code, stdout, stderr } = await run('findings', 'list');
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/\n +1 +error +AMOUNT_MISMATCH +shop-1 +1\.50 +1\.6 .*\n +2 +warning +CLOCK_SKEW /);
    expect(stdout).not.toContain('STUCK');
    expect(stdout).not.toContain('\u001b');
  });

  it('names the classes that reconcile.ignore leaves out', async () => {
    const environment = { ...at.options.environment, ORDER_SYNC_RECONCILE_IGNORE: 'TX_HASH_REUSED' };
    const { code, stderr } = await runProgram(['findings', 'list'], { ...at.options, environment });
    expect([code, stderr]).toEqual([0, expect.stringContaining('TX_HASH_REUSED')]);
  });

  it('narrows down by class, severity and status, and says when there are more', async () => {
    put('AMOUNT_MISMATCH open', 'AMOUNT_MISMATCH resolved', 'PAIR_MISMATCH open', 'STUCK acknowledged');
    const listed = async (...args: string[]) => {
      const { stdout } = await run('findings', 'list', '--json', ...args);
      return (JSON.parse(stdout) as { id: number }[]).map(({ id }) => id);
    };
    expect(
      await Promise.all([
        listed('--class', 'AMOUNT_MISMATCH'),
        listed('--class', 'AMOUNT_MISMATCH', '--status', 'any'),
        listed('--severity', 'warning', '--status', 'acknowledged'),
        listed('--status', 'any'),
      ]),
    ).toEqual([[1], [2, 1], [4], [3, 2, 1, 4]]);
    const { stdout, stderr } = await run('findings', 'list', '--status', 'any', '--limit', '3', '--json');
    expect([(JSON.parse(stdout) as unknown[]).length, stderr]).toEqual([
      3,
      'only the first 3 are shown: --limit shows more\n',
    ]);
  });

  it.each([
    [['--class', 'NONSENSE'], /Allowed choices are FAIL_OVER/],
    [['--status', 'gone'], /Allowed choices are open, acknowledged, resolved, undecided, decided, any/],
  ])('refuses %s as wrong usage', async (args, message) => {
    const { code, stderr } = await run('findings', 'list', ...args);
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });
});

describe('findings ack', () => {
  it('takes ids, and records who says so and why', async () => {
    put('AMOUNT_MISMATCH open', 'PAIR_MISMATCH open', 'STUCK open');
    const named = await run('findings', 'ack', '1', '3', '--reason', ' agreed ', '--actor', 'ann');
    expect(named).toMatchObject({ code: 0, stderr: '' });
    expect(named.stdout).toMatch(/^[^→]*finding 1 AMOUNT_MISMATCH[^→]*expected 1.50[^→]*\n[^→]*finding 3 STUCK[^→]*$/);
    expect(await run('findings', 'ack', '2', '--reason', 'so be it')).toMatchObject({ code: 0 });
    expect(rows()).toEqual([
      { id: 1, status: 'acknowledged', changed_by: 'ann', reason: 'agreed' },
      { id: 2, status: 'acknowledged', changed_by: userInfo().username, reason: 'so be it' },
      { id: 3, status: 'acknowledged', changed_by: 'ann', reason: 'agreed' },
    ]);
  });

  it('passes over what is not open, with exit 1', async () => {
    put('AMOUNT_MISMATCH resolved', 'PAIR_MISMATCH acknowledged', 'STUCK open');
    const { code, stdout, stderr } = await run('findings', 'ack', '1', '2', '3', '3', '--reason', 'x', '--json');
    expect([code, stderr.split('\n').filter((line) => line.includes('not acknowledged')).length]).toEqual([1, 2]);
    expect((JSON.parse(stdout) as { id: number; done: boolean }[]).map(({ id, done }) => [id, done])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(rows().slice(0, 2)).toEqual([untouched(1, 'resolved'), untouched(2, 'acknowledged')]);
  });

  it('changes nothing when one of the ids is not there', async () => {
    put('AMOUNT_MISMATCH open');
    const { code, stderr } = await run('findings', 'ack', '1', '7', '--reason', 'x');
    expect([code, stderr]).toEqual([2, 'order-sync: there is no finding 7\n']);
    expect(rows()).toEqual([untouched(1)]);
  });

  it('takes a filter, shows what would change, and changes nothing until a person agrees', async () => {
    put('AMOUNT_MISMATCH open', 'AMOUNT_MISMATCH resolved', 'PAIR_MISMATCH open');
    const { code, stdout, stderr } = await run('findings', 'ack', '--class', 'AMOUNT_MISMATCH', '--reason', 'x');
    expect([code, stdout]).toEqual([64, '']);
    expect(stderr).toMatch(/shop-1[^]*nothing was changed: .*--yes\n$/);
    expect(stderr).not.toMatch(/shop-[23]/);
    expect(rows()).toEqual([untouched(1), untouched(2, 'resolved'), untouched(3)]);
    const agreed = await run('findings', 'ack', '--severity', 'error', '--reason', 'x', '--yes');
    expect(agreed).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/finding 3 [^]*\n[^]*finding 1 [^]*\n2 acknowledged\n$/),
    });
    expect(rows()).toMatchObject([{ status: 'acknowledged' }, { status: 'resolved' }, { status: 'acknowledged' }]);
  });

  it('acknowledges 10,000 at most at a time, and says that more are left: exit 1', { timeout: 60_000 }, async () => {
    put(...Array.from({ length: 10_001 }, () => 'AMOUNT_MISMATCH open'));
    const ack = async (...args: string[]) => {
      const { code, stdout, stderr } = await run('findings', 'ack', ...args, '--reason', 'x', '--yes', '--json');
      return [code, (JSON.parse(stdout) as unknown[]).length, stderr] as const;
    };
    // Only the newest are searched for orders about which a person has decided.
    expect(await ack('--decided')).toEqual([1, 0, expect.not.stringContaining('there is no')]);
    expect(await ack('--class', 'AMOUNT_MISMATCH')).toEqual([
      1,
      10_000,
      expect.stringMatching(/run the command again/),
    ]);
    expect(await ack('--class', 'AMOUNT_MISMATCH')).toEqual([0, 1, '']);
    expect(await ack('--class', 'AMOUNT_MISMATCH')).toEqual([0, 0, 'there is no such open finding\n']);
  });

  it.each([
    [['--reason', 'x'], /ids, or --class, --severity or --decided/],
    [['1', '--class', 'STUCK', '--reason', 'x'], /ids, or --class, --severity or --decided/],
    [['1'], /required option '--reason <text>' not specified/],
    [['1', '--reason', ' '], /--reason/],
    [['one', '--reason', 'x'], /a whole number from 1/],
  ])('refuses %s as wrong usage', async (args, message) => {
    const { code, stderr } = await run('findings', 'ack', ...args);
    expect(code).toBe(64);
    expect(stderr).toMatch(message);
  });
});

describe('report explain', () => {
  it('asks for a class in place of the word that printed commands have, and does not list all', async () => {
    const { code, stderr } = await run('report', 'explain', 'CLASS');
    expect(code).toBe(64);
    expect(stderr).toContain('--help');
    expect(stderr).not.toContain('FAIL_OVER');
    // The word stands in the advice alone, without the words of the parser.
    expect(stderr.split('CLASS')).toHaveLength(2);
  });

  it('says of a class what it means and what to do, without a database', async () => {
    rmSync(at.path);
    const { meaning, advice } = classTexts('STUCK');
    const { code, stdout } = await run('report', 'explain', 'STUCK');
    expect([code, stdout]).toEqual([
      0,
      `STUCK (warning)\n${meaning}\nWhat to do: ${advice}\n` +
        'A finding of this class resolves itself when it is no longer true, and opens again if it becomes true again.\n',
    ]);
  });

  it('has all classes in a table, or as JSON', async () => {
    const [table, json] = await Promise.all([run('report', 'explain'), run('report', 'explain', '--json')]);
    const names = Object.keys(FINDING_CLASSES) as FindingClassName[];
    for (const name of names) {
      expect(table.stdout).toContain(name);
      expect(table.stdout).toContain(classTexts(name).meaning);
    }
    expect(JSON.parse(json.stdout)).toEqual(names.map((name) => ({ class: name, ...classTexts(name) })));
  });
});
