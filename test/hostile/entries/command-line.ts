import fc from 'fast-check';
import { createProgram } from '../../../src/cli/program.ts';
import { EXTENSIONS } from '../../../src/extensions.ts';
import { EXIT, explainError } from '../../../src/cli/shared/exit.ts';
import { createPass } from '../../../src/orders/create.ts';
import { followPass } from '../../../src/orders/follow.ts';
import { testClock } from '../../support/test-clock.ts';
import { broken, type Entry } from '../entry.ts';
import { BEGINNING, ground, NEVER, sandbox } from '../ground.ts';
import { ODD_NUMBERS, ODD_TIMES, oddText } from '../odd.ts';

/** No id, filter or cursor is longer. */
const LONGEST = 9_000;
/** Command lines; a `?` is anything. */
const COMMANDS = [
  'orders list --order ? --pair ?',
  'orders list --from ? --to ?',
  'orders list --limit ? --state held',
  'orders list --class ? --json',
  'orders show ?',
  'orders explain ?',
  'orders export --order ? --format ndjson',
  'orders export --from ? --format csv',
  'orders cancel ? --reason ?',
  'orders retry ? --reason ?',
  'orders resolve ? --as ours --reason ?',
  'orders resolve a --as exists --pre-order-id ? --reason ?',
  'orders add --external-order-id ? --asset ? --from ? --to EUR',
  'events --after ?',
  'events --after ? --json --limit ?',
  'events --type ? --order ?',
  'findings list --order ? --class ?',
  'findings ack ? --reason ?',
  'report changes --from ? --to ?',
  'report summary --from ? --json',
  'report ageing --format ?',
  'report explain ?',
  'webhooks show ?',
  'webhooks resend ? --event ?',
  'status --account ?',
  'pause --creates --reason ?',
  'db check --chain --head ?',
  '?',
  'orders ?',
].map((command) => command.split(' '));

const value = fc
  .oneof(
    { weight: 3, arbitrary: oddText },
    { weight: 2, arbitrary: fc.constantFrom<string>(...ODD_NUMBERS, ...ODD_TIMES) },
  )
  // No process is given a NUL, or half a character, in an argument.
  .map((text) => text.replaceAll('\0', '').toWellFormed().slice(0, LONGEST));

const line = fc
  .tuple(fc.constantFrom(...COMMANDS), fc.array(value, { minLength: 3, maxLength: 3 }))
  .map(([command, values]) => command.map((word) => (word === '?' ? (values.shift() ?? '') : word)));

/** Ids, filters, cursors and times on the command line: they are taken, or what is wrong with them is said in words. */
export const commandLine: Entry<readonly string[]> = {
  name: 'command-line',
  inputs: line,
  inputsAProgram: 200,
  async open() {
    const clock = testClock(BEGINNING);
    const on = await ground({ clock, answer: sandbox(clock).answer });
    on.merchant.exec(
      `insert into merchant_orders (external_order_id, asset, from_currency, to_currency)
       values ('a', '1.5', 'BTC', 'EUR'), ('b', 'none', 'BTC', 'EUR')`,
    );
    await createPass(on.app, NEVER);
    clock.advance(60_000);
    await followPass(on.app, 'all', NEVER);
    const environment = {
      ORDER_SYNC_CONFIG: '/dev/null',
      ORDER_SYNC_DATABASE_URL: `sqlite:${on.path}`,
    };
    return {
      async give(args) {
        const { code, output } = await run(args, environment);
        if (code === EXIT.bug) broken(`it is taken for a bug: ${output}`);
        if (/\n {4}at /.test(output)) broken(`a stack is shown: ${output}`);
        const [found] = /\p{Cc}/u.exec(output.replaceAll(/\r?\n/g, '')) ?? [];
        if (found !== undefined) broken(`the terminal is sent ${JSON.stringify(found)}`);
      },
      [Symbol.asyncDispose]: () => on[Symbol.asyncDispose](),
    };
  },
};

/** Runs a command line in this process. */
async function run(args: readonly string[], environment: Readonly<Record<string, string>>) {
  const before = Object.keys(environment).map((name) => [name, process.env[name]] as const);
  const { stdout, stderr } = process;
  let output = '';
  const write = (text: unknown, ...more: unknown[]) => {
    output += String(text);
    const done = more.at(-1);
    if (typeof done === 'function') process.nextTick(done);
    return true;
  };
  Object.assign(process.env, environment);
  const streams = [stdout, stderr].map((stream) => ({ stream, own: Object.getOwnPropertyDescriptor(stream, 'write') }));
  for (const { stream } of streams)
    Object.defineProperty(stream, 'write', { value: write, configurable: true, writable: true });
  try {
    process.exitCode = undefined;
    const program = await createProgram(args, EXTENSIONS);
    await program.parseAsync([...args], { from: 'user' });
    return { code: process.exitCode ?? EXIT.ok, output };
  } catch (error) {
    const { code, message } = explainError(error);
    return { code, output: `${output}${message}\n` };
  } finally {
    process.exitCode = undefined;
    for (const { stream, own } of streams) {
      if (own === undefined) Reflect.deleteProperty(stream, 'write');
      else Object.defineProperty(stream, 'write', own);
    }
    for (const [name, old] of before) {
      if (old === undefined) delete process.env[name];
      else process.env[name] = old;
    }
  }
}
