import {
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { writeReport } from '../../../src/extensions/commands/output.ts';
import type { ReportDocument, Row, Rows } from '../../../src/extensions/documents/document.ts';
import { runProgram } from '../../support/cli-function.ts';
import { runCommand } from '../../support/cli-process.ts';
import { AS_OF, filledDatabase } from '../../support/filled-database.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { documentOf, texts } from '../../support/report-document.ts';

const SECTIONS = [
  'disputed_orders',
  'findings',
  'unchecked_orders',
  'money',
  'money_days',
  'pairs',
  'days',
  'unchecked',
  'classes',
];
const LEDGER = ['--against', 'ledger.csv', '--against-id', 'id', '--against-amount', 'amount'];

let folder = '';
beforeEach(async () => {
  folder = temporaryFolder();
  await filledDatabase(join(folder, 'orders.db'), [
    { id: 'a' },
    { id: '=1+1', asset: '2', record: { input: '2.000000000000000001' } },
  ]);
  writeFileSync(join(folder, 'ledger.csv'), 'id,amount\n');
});
afterEach(() => {
  vi.restoreAllMocks();
});

const environment = { ORDER_SYNC_DATABASE_URL: 'sqlite:orders.db' };
const run = (...args: string[]) => runProgram(['report', ...args], { cwd: folder, environment });
const report = (...args: string[]) => run('reconciliation', '--as-of', AS_OF, ...args);
const at = (...names: string[]) => join(folder, ...names);
const contents = (...names: string[]) => readFileSync(at(...names), 'utf8');
const rowsIn = (text: string) => parse<Row>(text, { columns: true });

/** Rows that end with an error, as those of a database that is gone. */
async function* broken(): Rows {
  yield { id: 'a' };
  await Promise.resolve();
  throw new Error('broken');
}

/** A document of two sections, the second with these rows. */
function twoSections(rows: Rows): ReportDocument {
  const document = documentOf(texts('id'), [{ id: 'new' }], 'x/1');
  return { ...document, sections: [...document.sections, { name: 'more', title: 'More', columns: texts('id'), rows }] };
}

describe('one CSV file of a report', () => {
  it.each([[['--format', 'csv']], [['--out', 'january.csv']], [['--format', 'csv', '--out', 'january.txt']]])(
    'is refused for %j if it would have several tables, with both ways out',
    async (args) => {
      const { code, stdout, stderr } = await report(...args);
      expect([code, stdout]).toEqual([64, '']);
      expect(stderr).toMatch(/--section.*findings.*--out january\//);
      expect(readdirSync(folder).filter((name) => name.startsWith('january'))).toEqual([]);
    },
  );

  it('has the section that is named, and nothing else, on stdout or under exactly the name that was given', async () => {
    const [piped, written] = [
      await report('--format', 'csv', '--section', 'findings'),
      await report('--section', 'findings', '--out', 'January.CSV'),
    ];
    expect([piped.code, written.code, written.stdout]).toEqual([1, 1, '']);
    expect(written.stderr).toMatch(
      /^wrote January\.CSV: [\d,]+ bytes, 1 table row\nA person should look at 1 of 2 orders\n/,
    );
    expect(rowsIn(piped.stdout)).toEqual([
      expect.objectContaining({ external_order_id: "'=1+1", actual: '2.000000000000000001' }),
    ]);
    expect(contents('January.CSV')).toBe(piped.stdout);
    expect(statSync(at('January.CSV')).mode & 0o777).toBe(0o600);
  });

  it('needs no name if the report has one table', async () => {
    const { code, stdout } = await run('changes', '--format', 'csv', '--allow-empty');
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^id,observed_at,[^\n]*\n$/)]);
  });
});

describe('--section', () => {
  it('takes the facts and every section that the report has, and no other', async () => {
    const sectionsOf = async (...args: string[]) =>
      Object.keys((JSON.parse((await run(...args, '--json')).stdout) as { sections: object }).sections);
    const reports = [
      ['reconciliation', LEDGER, ['--account', 'all']],
      ['ageing', []],
      ['changes', []],
    ] as const;
    for (const [name, ...ways] of reports) {
      const sections = (await Promise.all(ways.map((args) => sectionsOf(name, ...args)))).flat();
      const { stderr } = await run(name, '--section', 'none-of-them');
      const [, choices] = /Allowed choices are ([^.]*)\./.exec(stderr) ?? [];
      expect(new Set(choices?.split(', '))).toEqual(new Set(['facts', ...sections]));
    }
  });

  it('names the sections that there are if this report has not that one', async () => {
    const { code, stderr } = await report('--section', 'ledger', '--format', 'csv');
    expect([code, stderr]).toEqual([64, expect.stringContaining(['facts', ...SECTIONS].join(', '))]);
  });

  it('leaves the one table in every other form too', async () => {
    const [json, table] = [await report('--section', 'findings', '--json'), await report('--section', 'unchecked')];
    expect(JSON.parse(json.stdout)).toEqual([expect.objectContaining({ external_order_id: '=1+1' })]);
    expect([table.code, table.stdout]).toEqual([1, expect.not.stringContaining('Verdict')]);
  });
});

describe('--out', () => {
  it.each(['january.pdf', 'january', '.csv', '-'])(
    'refuses %j, which tells no format, and names those there are',
    async (out) => {
      const [one, exported] = [
        await report('--out', out),
        await runProgram(['orders', 'export', '--out', out], { cwd: folder, environment }),
      ];
      expect([one.code, one.stderr]).toEqual([64, expect.stringContaining('.table, .csv, .json, .xlsx, .html')]);
      expect([exported.code, exported.stderr]).toEqual([64, expect.stringContaining('.csv, .ndjson, .xlsx')]);
      expect(existsSync(at(out))).toBe(false);
    },
  );

  it('takes any name if --format tells the format, except one that ends as another format', async () => {
    expect(await report('--format', 'json', '--out', 'january.pdf')).toMatchObject({ code: 1, stdout: '' });
    expect(JSON.parse(contents('january.pdf'))).toMatchObject({ facts: { orders: 2 } });
    for (const args of [['--format', 'csv'], ['--json'], ['--format', 'table']]) {
      expect(await report(...args, '--out', 'january.HTML')).toMatchObject({ code: 64 });
    }
    const exported = await runProgram(['orders', 'export', '--format', 'csv', '--out', 'o.json'], {
      cwd: folder,
      environment,
    });
    expect(exported.code).toBe(64);
  });

  it.each(['january/', 'there'])(
    'writes one CSV file a section and one of the facts into the folder %j',
    async (out) => {
      mkdirSync(at('there'));
      writeFileSync(at('there', 'pairs.csv'), 'old');
      const { code, stdout, stderr } = await report('--out', out);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(new RegExp(`^wrote ${out}: [0-9,]+ bytes, [0-9]+ table rows\\n`));
      const names = readdirSync(at(out));
      expect(names.toSorted()).toEqual(['facts', ...SECTIONS].map((name) => `${name}.csv`).toSorted());
      expect(names.map((name) => statSync(at(out, name)).mode & 0o777)).toEqual(names.map(() => 0o600));
      expect(rowsIn(contents(out, 'facts.csv'))).toContainEqual({
        fact: 'verdict',
        value: 'not clean',
        label: 'Verdict',
      });
      expect(rowsIn(contents(out, 'pairs.csv'))).toHaveLength(1);
    },
  );

  it('refuses a folder for what is one file, and does not make the folders above', async () => {
    expect(await report('--json', '--out', 'january/')).toMatchObject({ code: 64 });
    const exported = await runProgram(['orders', 'export', '--out', 'january/'], { cwd: folder, environment });
    expect(exported).toMatchObject({ code: 64 });
    expect(await report('--out', 'reports/january/')).toMatchObject({ code: 74 });
    expect(readdirSync(folder).filter((name) => /january|reports/.test(name))).toEqual([]);
  });

  it('takes the place of a file that is there once it is whole, for its owner alone', async () => {
    writeFileSync(at('january.json'), 'old', { mode: 0o644 });
    await report('--out', 'january.json');
    expect(JSON.parse(contents('january.json'))).toMatchObject({ facts: { orders: 2 } });
    expect(statSync(at('january.json')).mode & 0o777).toBe(0o600);
    // A device is no file that could be replaced.
    symlinkSync('/dev/null', at('nowhere'));
    expect(await report('--format', 'json', '--out', 'nowhere')).toMatchObject({ code: 1 });
    expect(lstatSync(at('nowhere')).isSymbolicLink()).toBe(true);
  });

  it('takes the place of a link, and leaves what it led to', async () => {
    writeFileSync(at('of-another'), 'kept');
    symlinkSync('of-another', at('january.json'));
    await report('--out', 'january.json');
    expect([lstatSync(at('january.json')).isFile(), contents('of-another')]).toEqual([true, 'kept']);
  });

  it('continues in the file that the shell made standard output, and leaves the path that leads to it', async () => {
    symlinkSync('/proc/self/fd/1', at('stdout.json'));
    writeFileSync(at('shell.json'), '"before"\n');
    const shell = openSync(at('shell.json'), 'a');
    const args = ['report', 'summary', '--json', '--out', 'stdout.json'];
    const finished = await runCommand(args, { cwd: folder, environment, stdout: shell });
    closeSync(shell);
    expect(finished).toMatchObject({ code: 0, stderr: expect.stringMatching(/^wrote stdout\.json: /) });
    expect(lstatSync(at('stdout.json')).isSymbolicLink()).toBe(true);
    const [before, ...lines] = contents('shell.json').split('\n');
    expect([before, JSON.parse(lines.join('\n'))]).toEqual(['"before"', expect.any(Array)]);
  });

  it('leaves each old file as it was, and nothing beside it, if a report cannot be written whole', async () => {
    mkdirSync(at('there'));
    for (const name of ['facts.csv', 'lines.csv', 'more.csv']) writeFileSync(at('there', name), 'old');
    writeFileSync(at('one.json'), 'old');
    const before = readdirSync(folder).toSorted();
    for (const out of ['there', 'new/', 'one.json']) {
      await expect(writeReport(twoSections(broken()), { out: at(out) })).rejects.toThrow('broken');
    }
    expect(readdirSync(folder).toSorted()).toEqual(before);
    expect(readdirSync(at('there')).map((name) => contents('there', name))).toEqual(['old', 'old', 'old']);
    expect(contents('one.json')).toBe('old');
  });

  it('leaves the old files too if a folder has the name of one of them', async () => {
    mkdirSync(at('there', 'more.csv'), { recursive: true });
    writeFileSync(at('there', 'lines.csv'), 'old');
    await expect(writeReport(twoSections([]), { out: at('there') })).rejects.toMatchObject({ exitCode: 74 });
    expect([readdirSync(at('there')).toSorted(), contents('there', 'lines.csv')]).toEqual([
      ['lines.csv', 'more.csv'],
      'old',
    ]);
  });

  it('lets two reports that write the same file at once each write all of theirs', async () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => ({ id: `o${index}` }));
    const out = at('one.json');
    await Promise.all([1, 2].map(() => writeReport(documentOf(texts('id'), rows, null), { out })));
    expect(JSON.parse(contents('one.json'))).toEqual(rows);
    expect(readdirSync(folder).filter((name) => name.startsWith('unfinished'))).toEqual([]);
  });
});

describe('standard error after a report with --out', () => {
  const DOCUMENT: ReportDocument = {
    ...documentOf(texts('id'), [], 'x/1'),
    verdict: {
      tone: 'error',
      text: 'Not clean',
      reasons: ['open errors: 2'],
      first: { section: 'lines', head: { title: 'AMOUNT_MISMATCH \u001b[31ma', advice: 'Wait.' } },
    },
  };

  async function said(document: ReportDocument, out?: string): Promise<string> {
    const written = vi.spyOn(process.stderr, 'write').mockReset().mockReturnValue(true);
    vi.spyOn(process.stdout, 'write').mockImplementation((...args: unknown[]) => {
      (args.at(-1) as () => void)();
      return true;
    });
    await writeReport(document, { format: 'json', ...(out !== undefined && { out }) });
    return written.mock.calls.map(([text]) => String(text)).join('');
  }

  it('has the file, its size and rows, the verdict, and what to begin with', async () => {
    const out = at('one.json');
    const document = { ...DOCUMENT, sections: documentOf(texts('id'), [{ id: 'a' }, { id: 'b' }], 'x/1').sections };
    const text = await said(document, out);
    expect(text).toBe(
      `wrote ${out}: ${statSync(out).size} bytes, 2 table rows\nNot clean\nBegin with: AMOUNT_MISMATCH ${String.raw`\u001b[31ma`}. Wait.\n`,
    );
    expect(await said(documentOf(texts('id'), [], 'x/1'), out)).toMatch(/^wrote [^\n]*, 0 table rows\n$/);
  });

  it('has nothing if the report is on stdout', async () => {
    expect(await said(DOCUMENT)).toBe('');
  });
});
