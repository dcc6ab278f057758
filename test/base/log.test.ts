import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createLog, lineForPeople, linesOfTurns } from '../../src/base/log.ts';
import { printableJson } from '../../src/base/words.ts';

it('writes the lines of some turns of the event loop at once', async () => {
  const written: string[] = [];
  const { promise: isWritten, resolve } = Promise.withResolvers<void>();
  const write = (text: string) => {
    written.push(text);
    resolve();
  };
  const lines = linesOfTurns(() => Object.assign(new EventEmitter(), { write }) as never);
  lines.write('a\n');
  await turn();
  lines.write('b\n');
  await isWritten;
  expect(written).toEqual(['a\nb\n']);
});

it('counts the lines that could not be written, and says so as soon as it can', async () => {
  let written = '';
  let isFull = false;
  let onWrite = () => {};
  const open = () => {
    const output = new EventEmitter();
    const write = (text: string) => {
      if (isFull) output.emit('error', new Error('no space'));
      else written += text;
      onWrite();
      return true;
    };
    return Object.assign(output, { write }) as never;
  };
  const log = createLog('info', linesOfTurns(open));
  const say = async (...messages: string[]) => {
    const isWritten = new Promise<void>((resolve) => (onWrite = resolve));
    for (const message of messages) log.info(message);
    await isWritten;
    // The output hears of its error first.
    await turn();
  };
  await say('a');
  isFull = true;
  await say('b', 'c');
  await say('d');
  isFull = false;
  await say('e');
  await say('f');
  const lines = written.split('\n').filter((line) => line !== '');
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ msg: 'a' }),
    expect.objectContaining({ level: 'warn', lines: 3 }),
    expect.objectContaining({ msg: 'e' }),
    expect.objectContaining({ msg: 'f' }),
  ]);
});

describe('a line for people', () => {
  const shown = (level: 'info' | 'error', facts: object, message = 'order changed') => {
    let text = '';
    const paint = (style: unknown, word: string) => `<${String(style)}>${word}</>`;
    const log = createLog('info', { write: (line) => (text += lineForPeople(line, paint)) });
    log[level](facts, message);
    return text.replace(/^\d\d:\d\d:\d\dZ /, 'TIME ');
  };

  it('has the time of day, the level, the message and the facts, the cause last', () => {
    expect(shown('error', { cause: 'connect ECONNREFUSED', externalOrderId: 'shop-1', lines: 3, old: null })).toBe(
      'TIME <red>error</> order changed externalOrderId=shop-1 lines=3 old=null cause="connect ECONNREFUSED"\n',
    );
  });

  it.each([
    ['\u001b[31mred\nnew line', '"\\u001b[31mred\\nnew line"'],
    ['\u202eright to left', '"\\u202eright to left"'],
    ['a=b', '"a=b"'],
    ['', '""'],
    ['ünicode-😀', 'ünicode-😀'],
    [['a', 'b'], '["a","b"]'],
  ])('shows %j so that it can neither steer a terminal nor look like another fact', (given, expected) => {
    expect(shown('info', { given })).toBe(`TIME info  order changed given=${expected}\n`);
  });

  it.each([
    [0, '0ms'],
    [999.4, '999ms'],
    [1_000, '1s'],
    [601_900, '10m1s'],
    [3_600_000, '1h'],
    [3_659_000, '1h'],
    [12_000_000, '3h20m'],
    [187_200_000, '2d4h'],
  ])('shows %i ms as %s', (lastedMs, expected) => {
    expect(shown('info', { lastedMs })).toBe(`TIME info  order changed lasted=${expected}\n`);
  });
});

it('a line of JSON has nothing that steers a terminal or turns the order of reading round, and says the same', () => {
  const facts = { given: 'a\u009b2Jb\u202ec\u2028\u{e0041}d', plain: 'ünicode-😀' };
  const line = `${JSON.stringify(facts)}\n`;
  expect(printableJson(line)).toMatch(/^[^\p{Cc}\p{Bidi_Control}\u2028\u{e0041}]*\n$/u);
  expect(JSON.parse(printableJson(line))).toEqual(facts);
  expect(printableJson(line)).toContain('ünicode-😀');
});
