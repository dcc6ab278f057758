import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { seededRandom } from '../../../src/extensions/sandbox/random.ts';
import { startSandbox } from '../../../src/extensions/sandbox/server.ts';
import { planOf, SANDBOX } from '../../../src/extensions/setup/plan.ts';
import { Dialogue } from '../../../src/extensions/operate/decision-options.ts';
import { CommandError } from '../../../src/cli/shared/exit.ts';
import { runProgram } from '../../support/cli-function.ts';
import { runCommand } from '../../support/cli-process.ts';
import { temporaryFolder } from '../../support/folders.ts';
import { testProcesses } from '../../support/program-processes.ts';

const KEY = 'k3y-that-must-stay-hidden';
/** Nothing listens there. */
const URL = 'http://127.0.0.1:9';
let folder = '';
let file = '';
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder, 'etc', 'shop.yaml');
});

const init = (args: readonly string[], input = '') =>
  runCommand(['--config', file, 'init', ...args], { cwd: folder, input });
/** The address of an exchange that takes these keys. */
async function exchange(apiKey: string, ...otherKeys: string[]): Promise<string> {
  const sandbox = await startSandbox({ apiKey, otherKeys, clock: systemClock(), random: seededRandom(1) });
  onTestFinished(() => sandbox.close());
  return sandbox.url;
}
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe('init', () => {
  it('makes settings, the file of the key and the database, and asks nothing if options say it all', async () => {
    const url = await exchange(KEY);
    const { code, stdout, stderr } = await init(['--base-url', url, '--api-key-file', '-'], `${KEY}\n`);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain('The exchange accepts the key.');
    const [key, database] = [join(folder, 'etc', 'shop.key'), join(folder, 'data', 'order-sync.db')];
    expect(readFileSync(key, 'utf8')).toBe(`${KEY}\n`);
    expect([file, key, database].map(modeOf)).toEqual([0o600, 0o600, 0o600]);
    const settings = readFileSync(file, 'utf8');
    expect(settings).toMatch(/^# yaml-language-server: \$schema=file:\/\/\S+\/config\/schema\.json\n/);
    for (const path of [file, key, database]) expect(stdout).toContain(path);
    expect(stdout).toContain(`--config ${file} run`);
    for (const text of [stdout, settings]) expect(text).not.toContain(KEY);
    // Another folder, and no variable: the file says it all.
    const elsewhere = { cwd: temporaryFolder() };
    const [check, status] = [await runProgram(['--config', file, 'config', 'check', '--json'], elsewhere)].concat(
      await runProgram(['--config', file, 'db', 'status'], elsewhere),
    );
    expect(JSON.parse(check?.stdout ?? '')).toEqual({ ok: true, exchange: url, database });
    expect(status?.code).toBe(0);
  });

  it('takes a file of the key and a database that are there', async () => {
    const key = join(folder, 'key');
    writeFileSync(key, KEY, { mode: 0o600 });
    const database = ['--database', join(folder, 'orders.db')];
    const environment = { ORDER_SYNC_DATABASE_URL: `sqlite:${database[1]}` };
    await runProgram(['db', 'migrate'], { cwd: folder, environment });
    const url = await exchange(KEY);
    const { code, stdout, stderr } = await init(['--base-url', url, '--api-key-file', key, ...database]);
    expect([code, stderr, readFileSync(key, 'utf8')]).toEqual([0, '', KEY]);
    const [made, used] = stdout.split(/\n(?! )/);
    expect([made, used]).toEqual([expect.stringContaining('shop.yaml'), expect.stringContaining('orders.db')]);
    expect(made).not.toContain('orders.db');
    expect(readdirSync(join(folder, 'etc'))).toEqual(['shop.yaml']);
  });

  it.each<[string, number, RegExp, () => readonly string[]]>([
    ['there is no terminal', 64, /--base-url and --api-key-file/, () => []],
    ['the address is none', 64, /--base-url/, () => ['--base-url', 'exchange', '--api-key-file', '-']],
    ['the key is none', 64, /standard input/, () => ['--base-url', URL, '--api-key-file', '-']],
    ['the file of the key is not there', 78, /ENOENT/, () => ['--base-url', URL, '--api-key-file', 'none']],
    [
      'others can read the file of the key',
      78,
      /chmod 600/,
      () => {
        writeFileSync(join(folder, 'etc', 'open'), KEY);
        chmodSync(join(folder, 'etc', 'open'), 0o644);
        return ['--base-url', URL, '--api-key-file', 'etc/open'];
      },
    ],
    [
      'the settings are there',
      78,
      /shop\.yaml is there already/,
      () => {
        writeFileSync(file, 'log:\n');
        return ['--base-url', URL, '--api-key-file', '-'];
      },
    ],
    [
      'the file of the key is there',
      78,
      /shop\.key is there already/,
      () => {
        writeFileSync(join(folder, 'etc', 'shop.key'), 'other');
        return ['--base-url', URL, '--api-key-file', '-'];
      },
    ],
    [
      'the database cannot be used',
      65,
      /0 bytes/,
      () => {
        writeFileSync(join(folder, 'etc', 'empty.db'), '');
        writeFileSync(join(folder, 'etc', 'key'), KEY, { mode: 0o600 });
        return ['--base-url', URL, '--api-key-file', 'etc/key', '--database', 'etc/empty.db'];
      },
    ],
  ])('makes and changes nothing if %s', async (_why, exit, message, args) => {
    mkdirSync(join(folder, 'etc'));
    const given = args();
    const before = contents();
    const { code, stdout, stderr } = await init([...given, '--yes'], exit === 64 ? 'no key\n' : KEY);
    expect([code, stdout]).toEqual([exit, '']);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(KEY);
    expect(contents()).toEqual(before);
  });

  it.each<[string, number, string, () => Promise<string>]>([
    ['the exchange refuses the key', 77, 'refuses the key', () => exchange('another')],
    ['the exchange is out of reach', 69, 'ECONNREFUSED', async () => URL],
    ['the address is that of something else', 69, 'no usable answer', webSite],
  ])('makes nothing if %s, and with --yes all the same', async (_why, exit, message, address) => {
    const given = ['--base-url', await address(), '--api-key-file', '-'];
    const refused = await init(given, KEY);
    expect([refused.code, refused.stdout, readdirSync(folder)]).toEqual([exit, '', []]);
    expect(refused.stderr).toContain(message);
    const kept = await init([...given, '--yes'], KEY);
    expect([kept.code, kept.stderr]).toEqual([exit, expect.stringContaining(message)]);
    // The first step is to correct it.
    expect(/(\w+)\n/.exec(kept.stdout.split(/next:\n/)[1] ?? '')?.[1]).toBe('doctor');
    expect(kept.stdout).not.toMatch(/accepts the key|settings are right/);
    expect(readdirSync(join(folder, 'etc')).toSorted()).toEqual(['shop.key', 'shop.yaml']);
  });

  it('does not say that a key is right if a daemon answered, which has a key of its own', async () => {
    const on = await testProcesses();
    await on.start(['run']);
    const args = ['--base-url', URL, '--api-key-file', '-', '--database', on.path];
    const { code, stdout } = await init(args, 'wrong\n');
    expect([code, existsSync(file)]).toEqual([0, true]);
    expect(stdout).toContain(`--config ${file} doctor`);
    expect(stdout).not.toContain('accepts');
  });

  it('makes settings for the sandbox, whose statuses are known, without asking it', async () => {
    expect(await init(['--sandbox'])).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(join(folder, 'etc', 'shop.key'), 'utf8')).toBe(`${SANDBOX.key}\n`);
    const { stdout } = await runProgram(['--config', file, 'config', 'show', '--json'], { cwd: folder });
    const shown = JSON.parse(stdout) as { setting: string; value: string }[];
    const valueOf = (name: string) => shown.find(({ setting }) => setting === name)?.value;
    expect([valueOf('exchange.baseUrl'), valueOf('follow.succeededStatuses')]).toEqual([SANDBOX.url, '[COMPLETED]']);
  });

  it('leaves nothing behind if one of the files cannot be made', async () => {
    mkdirSync(join(folder, 'etc'));
    // A link that leads nowhere is no file that is there, and cannot be made new.
    symlinkSync(join(folder, 'nowhere'), file);
    const { code } = await init(['--base-url', URL, '--api-key-file', '-', '--yes'], KEY);
    expect([code, readdirSync(folder), readdirSync(join(folder, 'etc'))]).toEqual([74, ['etc'], ['shop.yaml']]);
    expect(existsSync(join(folder, 'data'))).toBe(false);
  });

  it('makes everything once if two run at once', async () => {
    const args = ['--base-url', URL, '--api-key-file', '-', '--yes'];
    const [first, second] = await Promise.all([init(args, KEY), init(args, KEY)]);
    expect([first?.code, second?.code].filter((code) => code === 69)).toHaveLength(1);
    expect(readdirSync(join(folder, 'etc')).toSorted()).toEqual(['shop.key', 'shop.yaml']);
    expect(await runProgram(['--config', file, 'db', 'status'], { cwd: folder })).toMatchObject({ code: 0 });
  });

  it('says which variable would override what it writes', async () => {
    const environment = { ORDER_SYNC_DATABASE_URL: 'sqlite:other.db' };
    const args = ['--config', file, 'init', '--base-url', URL, '--api-key-file', '-', '--yes'];
    const { code, stderr } = await runProgram(args, { cwd: folder, environment });
    expect([code, stderr, readdirSync(folder)]).toEqual([78, expect.stringContaining('ORDER_SYNC_DATABASE_URL'), []]);
  });
});

describe('init at a terminal', () => {
  /** Runs it with these answers. Returns what came of it, and the questions. */
  async function answered(...answers: readonly string[]) {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const left = [...answers];
    const questions: string[] = [];
    const spies = [
      vi.spyOn(process, 'stdin', 'get').mockReturnValue(input as unknown as typeof process.stdin),
      vi.spyOn(Dialogue.prototype, 'ask').mockImplementation(async (question, read) => {
        questions.push(question);
        return read(left.shift() ?? '');
      }),
    ];
    const args = ['--config', file, 'init', '--database', join(folder, 'orders.db')];
    const result = await runProgram(args, { cwd: folder });
    for (const spy of spies) spy.mockRestore();
    return { ...result, keys: questions.filter((question) => question.startsWith('Key of')).length };
  }

  it('asks for another address and key if the exchange refuses the key, and keeps nothing of the first', async () => {
    const url = await exchange(KEY);
    const { code, stderr, keys } = await answered(url, '', 'wrong', 'y', url, '', KEY);
    expect([code, keys]).toEqual([0, 2]);
    expect(stderr).toContain('refuses the key');
    expect(readFileSync(join(folder, 'etc', 'shop.key'), 'utf8')).toBe(`${KEY}\n`);
    expect(readdirSync(join(folder, 'etc')).toSorted()).toEqual(['shop.key', 'shop.yaml']);
  });

  it('asks three times at most, then keeps the last, or nothing, as the person says', async () => {
    const url = await exchange(KEY);
    const wrong = [url, '', 'wrong'];
    const thrice = [...wrong, 'y', ...wrong, '', ...wrong];
    expect(await answered(...thrice, '')).toMatchObject({ code: 77, keys: 3 });
    expect(readdirSync(folder)).toEqual([]);
    expect(await answered(...wrong, 'n', 'y')).toMatchObject({ code: 77, keys: 1 });
    expect(readdirSync(join(folder, 'etc')).toSorted()).toEqual(['shop.key', 'shop.yaml']);
  });
});

async function webSite(): Promise<string> {
  const server = createServer((request, response) => request.resume() && response.end('<html>welcome</html>'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Names and contents of the files that a test has laid out. */
function contents(): readonly (readonly [string, string])[] {
  return readdirSync(join(folder, 'etc')).map((name) => [name, readFileSync(join(folder, 'etc', name), 'utf8')]);
}

describe('the questions of init', () => {
  function terminal() {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let shown = '';
    output.setEncoding('utf8').on('data', (text: string) => (shown += text));
    const asks = async (question: string) => {
      while (!shown.includes(question)) await once(output, 'data');
      const text = shown;
      shown = '';
      return text;
    };
    return { input, dialogue: new Dialogue(input, output), asks };
  }

  const begin = ({ dialogue }: ReturnType<typeof terminal>) =>
    planOf({ cwd: folder, env: {}, file }, {}, (...asked) => dialogue.ask(...asked));
  const secretFile = (ending: string) => join(folder, 'etc', `shop${ending}`);

  it('are asked again after a wrong answer, and show no key', async () => {
    const on = terminal();
    const { input, dialogue, asks } = on;
    const asked = begin(on);
    await asks('Address');
    input.write('exchange\r');
    await asks('It must be an address');
    input.write(`${URL}\r`);
    await asks('Accounts');
    input.write('shop-1, all\r');
    await asks('It must be a list of names');
    input.write('shop-1, shop-2\r');
    await asks('Key of shop-1');
    input.write(`${KEY}\r`);
    const untilSecond = await asks('Key of shop-2');
    // The key for the line before.
    input.write('\u001b[A\r');
    await asks('It must be');
    input.write('key-2\r');
    await asks('Database');
    input.write('postgres://shop:pass%20word@127.0.0.1/shop\r');
    const { settings, secrets } = await asked;
    expect(settings).toMatchObject({
      exchange: { baseUrl: URL },
      database: { url: 'postgres://shop@127.0.0.1/shop', passwordFile: secretFile('.password') },
      accounts: {
        'shop-1': { exchange: { apiKeyFile: secretFile('-shop-1.key') } },
        'shop-2': { exchange: { apiKeyFile: secretFile('-shop-2.key') } },
      },
    });
    expect([...secrets.values()]).toEqual([KEY, 'key-2', 'pass word']);
    for (const text of [untilSecond, await asks('')]) expect(text).not.toMatch(/k3y|key-2/);
    dialogue[Symbol.dispose]();
  });

  it('make settings for the sandbox if there is no exchange yet', async () => {
    const on = terminal();
    const asked = begin(on);
    await on.asks('Address');
    on.input.write('\r');
    await on.asks('Database');
    on.input.write('\r');
    const { settings, secrets } = await asked;
    expect(settings).toMatchObject({
      exchange: { baseUrl: SANDBOX.url, apiKeyFile: secretFile('.key') },
      database: { url: `sqlite:${join(process.cwd(), 'data', 'order-sync.db')}` },
      follow: { succeededStatuses: ['COMPLETED'] },
    });
    expect([...secrets]).toEqual([[secretFile('.key'), SANDBOX.key]]);
    on.dialogue[Symbol.dispose]();
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['the end of the input', undefined],
  ])('end at %s', async (_how, key) => {
    const on = terminal();
    const { input } = on;
    const asked = begin(on);
    if (key === undefined) input.end();
    else input.write(key);
    await expect(asked).rejects.toThrow(CommandError);
  });
});
