import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommanderError, type Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programVersion } from '../../src/base/version.ts';
import { CommandError, EXIT, explainError } from '../../src/cli/shared/exit.ts';
import { createProgram } from '../../src/cli/program.ts';
import { EXTENSIONS } from '../../src/extensions.ts';
import { ConfigError } from '../../src/settings/config.ts';
import { UnusableIdError } from '../../src/exchange/ids.ts';
import { KeyRefusedError } from '../../src/exchange/reply.ts';
import { OwnedError, StoreError } from '../../src/store/errors.ts';
import { runProgram } from '../support/cli-function.ts';
import { commandFolder } from '../support/folders.ts';
import { runCommand, type CommandOptions } from '../support/cli-process.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'order-sync-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (args: readonly string[], options: Partial<CommandOptions> = {}) =>
  runCommand(args, { cwd: folder, ...options });

const WHOLE = await createProgram([], EXTENSIONS);

/** Every command that does something, with the words that call it. */
function leaves(command: Command, words: readonly string[] = []): [string, Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((child) => leaves(child, [...words, child.name()]));
}

/** Every command that only holds others. */
function groups(command: Command, words: readonly string[] = []): string[] {
  const within = command.commands.flatMap((child) => groups(child, [...words, child.name()]));
  return command.commands.length === 0 || words.length === 0 ? within : [words.join(' '), ...within];
}

/** The message of a command line before it does anything, and its exit code. */
async function usage(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = '';
  let err = '';
  const program = await createProgram(args, EXTENSIONS);
  const listen = (command: Command): void => {
    command.configureOutput({ writeOut: (text) => (out += text), writeErr: (text) => (err += text) });
    command.commands.forEach((child) => listen(child));
  };
  listen(program);
  const error: unknown = await program.parseAsync(args, { from: 'user' }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CommanderError);
  return { code: explainError(error).code, out, err };
}

describe('--help', () => {
  it.each([...leaves(WHOLE).map(([words]) => words), ...groups(WHOLE)])(
    'of "%s" says what it does, with an example that calls it',
    async (words) => {
      const { code, out, err } = await usage(...words.split(' '), '--help');
      expect([code, err]).toEqual([EXIT.ok, '']);
      expect(out).toMatch(new RegExp(`^Usage: order-sync ${words}`));
      const [, example = ''] = /\nExamples?:\n([^]*)$/.exec(out) ?? [];
      expect(example).toMatch(new RegExp(`(order-sync|npm run) (--config \\S+ )?(exchange )?${words}`));
    },
  );

  const namesIn = (out: string) => [...out.matchAll(/^ {2}([a-z][\w-]*) {2,}/gm)].map(([, name = '']) => name);
  const exchange = WHOLE.commands.find((command) => command.name() === 'exchange')?.commands ?? [];
  const old = exchange.map((command) => command.name());

  it('of the whole has an example, at most 13 commands, and the way to the others', async () => {
    const { out } = await usage('--help');
    expect(out).toContain('Example:\n  order-sync sync --json');
    expect(out).toContain('order-sync help --all');
    expect(namesIn(out).length).toBeLessThanOrEqual(13);
    expect(namesIn(out)).toEqual(expect.arrayContaining(['init', 'run', 'status', 'orders', 'exchange']));
  });

  it.each(['help --all', '--help --all'])('as "%s" names every command, but for names of old', async (line) => {
    const { out } = await usage(...line.split(' '));
    const all = WHOLE.commands.map((command) => command.name()).filter((name) => !old.includes(name));
    expect(namesIn(out).toSorted()).toEqual(all.toSorted());
  });

  it('has the commands of `exchange` also without that word, as they were called once', async () => {
    expect(old.length).toBeGreaterThan(5);
    const wordsOf = (commands: readonly Command[]) =>
      commands.flatMap((command) => leaves(command, [command.name()])).map(([words]) => words);
    const bare = WHOLE.commands.filter((command) => old.includes(command.name()));
    expect(wordsOf(bare)).toEqual(wordsOf(exchange));
    const [now, before] = [await usage('exchange', 'lookup', '--help'), await usage('lookup', '--help')];
    expect(before.out.replace('order-sync lookup', 'order-sync exchange lookup')).toBe(now.out);
  });

  it.each(
    ['list', 'show', 'import']
      .map((name) => `orders ${name}`)
      .concat('report summary', 'db status', 'lookup', 'pre-order show', 'sync', 'config show'),
  )('of "%s", which reads, has --json', async (words) => {
    expect((await usage(...words.split(' '), '--help')).out).toContain('--json');
  });
});

describe('help', () => {
  it.each([...leaves(WHOLE).map(([words]) => words), ...groups(WHOLE), ''])(
    'of "%s" has no line wider than 80 columns, and names no section of a document that it does not name',
    async (words) => {
      const { out } = await usage(...words.split(' ').filter(Boolean), '--help');
      const wide = out.split('\n').filter((line) => line.length > 80);
      expect([wide, out.match(/.*§.*/g)]).toEqual([[], null]);
    },
  );

  it.each([...leaves(WHOLE).map(([words]) => words), ...groups(WHOLE), ''])(
    'of "%s" fits a terminal of 60 columns, but for its examples, which are copied',
    async (words) => {
      const { stdout } = await runProgram([...words.split(' ').filter(Boolean), '--help'], { columns: 60 });
      const [text = ''] = stdout.split(/^Examples?:$/m);
      expect(text.split('\n').filter((line) => line.length > 60)).toEqual([]);
    },
  );

  it.each(leaves(WHOLE).map(([words]) => words))('of "%s" has defaults as they are typed', async (words) => {
    const options = leaves(await createProgram(words.split(' '), EXTENSIONS)).flatMap(([, command]) => command.options);
    for (const { defaultValue, defaultValueDescription: shown, parseArg: parse } of options) {
      if (defaultValue === undefined) continue;
      const typed = shown ?? String(defaultValue);
      expect(parse === undefined ? typed : parse(typed, undefined)).toEqual(defaultValue);
    }
  });
});

describe('the command line', () => {
  it.each([
    [['sync', '--json'], 'sync'],
    [['--config', 'run', 'sync'], 'sync'],
    [['--config=run', 'db', 'migrate'], 'migrate'],
    [['pre-order', 'show', 'sync'], 'show'],
    [['exchange', 'pre-order', 'show', 'sync'], 'show'],
    [['help', 'sync'], 'sync'],
    [['orders', 'help', 'list'], 'list'],
    [['--help', '--config', 'x', 'sync'], 'sync'],
    [['orders', 'list', '--state', 'held'], 'list'],
    [[], undefined],
    [['frob', 'sync'], undefined],
    [['orders', 'frob', 'list'], undefined],
    [['--config', 'sync'], undefined],
  ])('of %j has the options of the command that it calls, and of no other', async (args, name) => {
    const loaded = leaves(await createProgram(args, EXTENSIONS)).filter(([, command]) => command.options.length > 0);
    expect(loaded.map(([, command]) => command.name())).toEqual(name === undefined ? [] : [name]);
  });
});

describe('wrong usage', () => {
  it.each([
    ['frob', /unknown command 'frob'/],
    ['orders frob', /unknown command 'frob'/],
    ['report recon', /did you mean report reconciliation\?/],
    ['recon', /did you mean report reconciliation\?/],
    ['Sync', /did you mean sync\?/],
    // Only commands about clients are given addresses: elsewhere a value with an @ is what has to be seen.
    ['report summary --format a@b.csv', /'a@b\.csv' is invalid/],
    ['exchange clint', /did you mean exchange client\?/],
    ['sync --time 5m', /did you mean --timeout\?/],
    ['sync --jsno', /did you mean --json\?/],
    ['findings list --class amount', /AMOUNT_MISMATCH/],
    ['orders list --state hold', /Did you mean held\?/],
    ['report explain AMOUNT_MISSMATCH', /Did you mean AMOUNT_MISMATCH\?/],
    ['demo --scenario mis', /Did you mean mismatch\?/],
    ['sandbox --scenario complet', /did you mean completed\?/i],
    ['--frob', /unknown option '--frob'/],
    ['sync --frob', /unknown option '--frob'/],
    ['orders list extra', /too many arguments for 'list'/],
    ['orders show', /missing required argument 'externalOrderId'/],
    ['lookup', /missing required argument 'externalOrderId'/],
    ['pre-order show', /missing required argument 'preOrderId'/],
    ['orders import', /missing required argument 'file'/],
    ['orders import january.xlsx', /january\.xlsx .* --format/],
    ['orders import -', /--format/],
    ['orders import x.csv --format xml', /'xml' is invalid. Allowed choices are csv, ndjson/],
    ['orders add --asset 1', /required option '--external-order-id <id>' not specified/],
    ['orders list --limit 0', /--limit/],
    ['orders list --limit 1e3', /--limit/],
    ['orders list --state lost', /'lost' is invalid. Allowed choices are pending, sending, /],
    ['report summary --format pdf', /'pdf' is invalid. Allowed choices are table, csv, json/],
    ['sandbox --faults reset-aftre=0.1', /did you mean reset-after\?/i],
    ['report summary --format csv --json', /'--json' cannot be used with option '--format <format>'/],
    ['report summary --from yesterday', /--from/],
    ['report summary --from 2026-02-30', /--from/],
    ['report summary --from 5', /--from/],
    ['report summary --to 2026-01-31T25:00', /--to/],
    ['report summary --to 2026-01-31T24:00', /--to/],
    ['report summary --to 2026-01-31T12:00+01:00', /--to/],
    ['report summary --from 2026-01-02 --to 2026-01-02', /--from must be before --to/],
    ['sync --timeout soon', /--timeout/],
    ['sync --timeout 5', /--timeout/],
  ])('%s: says so and how help is had', async (line, message) => {
    const { code, out, err } = await usage(...line.split(' '));
    expect([code, out]).toEqual([EXIT.usage, '']);
    expect(err).toMatch(message);
    expect(err).toMatch(/\(--help says how it is used, with an example\)\n$/);
  });

  it.each([['\u001b[2J'], ['--\u009b2J'], ['orders', 'list', '--limit', '\u202e1']])(
    '%j: steers no terminal, like any other error',
    async (...args) => {
      const { err } = await usage(...args);
      expect(err).toMatch(/\\u001b\[2J|\\u009b2J|\\u202e1/);
      const { message } = explainError(new CommandError(EXIT.absent, `there is no "${args.at(-1)}"\nand no other`));
      expect([err, message].join()).not.toMatch(/\p{Cc}(?<!\n)|\u202e/u);
      expect(message).toContain('\n');
    },
  );

  it.each(['', 'orders', 'db', 'report', 'config', 'pre-order'])(
    '"%s" without a command: shows the help',
    async (words) => {
      const { code, out, err } = await usage(...words.split(' ').filter(Boolean));
      expect([code, out]).toEqual([EXIT.usage, '']);
      expect(err).toMatch(/^Usage: order-sync/);
    },
  );

  it('ends a real process with 64, and says so on stderr alone', async () => {
    const results = await Promise.all([run([]), run(['frob']), run(['orders', 'list', '--limit', 'x'])]);
    expect(results.map(({ code, stdout }) => [code, stdout])).toEqual([
      [64, ''],
      [64, ''],
      [64, ''],
    ]);
    expect(results[1]?.stderr).toMatch(/unknown command 'frob'/);
  });
});

describe('what was asked for', () => {
  it('goes to stdout, with exit 0, and without colour in a pipe', async () => {
    const environment = { FORCE_COLOR: '3', TERM: 'xterm-256color' };
    const [help, version] = await Promise.all([run(['--help'], { environment }), run(['--version'])]);
    expect([help.code, help.stderr, version.code, version.stderr]).toEqual([0, '', 0, '']);
    expect(help.stdout).toMatch(/^Usage: order-sync/);
    expect(help.stdout).not.toContain('\u001b');
    expect(version.stdout).toBe(`${programVersion()}\n`);
  });

  it('is lost with exit 74 when stdout cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const { code, stderr } = await run(['config', 'show'], { stdout: full });
    closeSync(full);
    expect([code, stderr]).toEqual([
      74,
      expect.stringMatching(/^order-sync: no space left on device \(ENOSPC\); check [^\n]*\n$/),
    ]);
  });

  it.each([
    ['nofile.yaml', /nofile\.yaml cannot be read: ENOENT/],
    ['broken.yaml', /broken\.yaml:1: /],
  ])('cannot be done with the settings of %s: exit 78', async (name, message) => {
    writeFileSync(join(folder, 'broken.yaml'), 'exchange: [');
    const { code, stdout, stderr } = await run(['--config', name, 'db', 'status']);
    expect([code, stdout]).toEqual([78, '']);
    expect(stderr).toMatch(message);
  });
});

describe('a file that cannot be made', () => {
  const database = commandFolder();

  it.each([
    [['db', 'backup', '/nonexist/x'], 'there is no folder /nonexist'],
    [['report', 'summary', '--out', '/nonexist/x.csv'], 'there is no folder /nonexist; check /nonexist,'],
    [['orders', 'export', '--out', '/nonexist/x.xlsx'], 'there is no folder /nonexist; check /nonexist,'],
  ])('%j says which folder is not there, and not how the program writes files', async (args, message) => {
    const { code, stderr } = await runProgram([...args], database.options);
    expect([code, stderr]).toEqual([74, expect.stringContaining(message)]);
    expect(stderr).not.toContain('XXXXXX');
  });
});

describe('the exit code of an error', () => {
  const fileError = (code: string, path?: string) =>
    Object.assign(new Error(`${code}: what the system says`), {
      code,
      errno: -1,
      syscall: 'write',
      ...(path === undefined ? {} : { path }),
    });

  it.each<[string, unknown, number]>([
    ['wrong settings', new ConfigError('x'), 78],
    ['an unusable database', new StoreError('unusable', 'x'), 65],
    ['a password that the server refuses', new StoreError('denied', 'x'), 65],
    ['a row that the database refuses', new StoreError('refused', 'x'), 65],
    ['a full disk', new StoreError('disk', 'x'), 74],
    ['a locked database', new StoreError('busy', 'x'), 75],
    ['what the driver says of a corrupt page', Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' }), 65],
    ['what the driver says of a full disk', Object.assign(new Error('full'), { code: 'SQLITE_FULL' }), 74],
    ['another owner', new OwnedError('x'), 75],
    ['a refused key', new KeyRefusedError('x'), 77],
    ['an id that cannot be used', new UnusableIdError('x'), 64],
    ['an error with its own code', new CommandError(69, 'x'), 69],
    ['a file that cannot be written', fileError('EACCES', '/x'), 74],
    ['a folder in place of a file', fileError('EISDIR', '/x'), 74],
    ['a stream that is full', fileError('ENOSPC'), 74],
    ['a bug', new TypeError('x is not a function'), 70],
    [
      'a connection that broke',
      Object.assign(new Error('x'), { code: 'ECONNRESET', errno: -104, syscall: 'read' }),
      70,
    ],
    ['what is no error', 'text', 70],
  ])('%s', (_name, error, code) => {
    expect(explainError(error).code).toBe(code);
    expect(explainError(error).message).not.toBe('');
    expect(explainError(error).message.startsWith('this is a bug')).toBe(code === 70);
  });
});
