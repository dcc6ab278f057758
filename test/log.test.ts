import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createLog, linesOfTurns } from '../src/log.ts';

it('counts the lines that could not be written, and says so as soon as it can', async () => {
  let written = '';
  let isFull = false;
  const open = () => {
    const output = new EventEmitter();
    const write = (text: string) => {
      if (isFull) output.emit('error', new Error('no space'));
      else written += text;
      return true;
    };
    return Object.assign(output, { write }) as never;
  };
  const log = createLog({ log: { level: 'info' } }, linesOfTurns(open));
  const say = async (...messages: string[]) => {
    for (const message of messages) log.info(message);
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
    expect.objectContaining({ level: 40, lines: 3 }),
    expect.objectContaining({ msg: 'e' }),
    expect.objectContaining({ msg: 'f' }),
  ]);
});
