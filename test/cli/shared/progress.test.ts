import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { progressLine, progressText } from '../../../src/cli/shared/progress.ts';
import { newCounters } from '../../../src/orders/pass/outcomes.ts';

const counts = (some: Partial<ReturnType<typeof newCounters>>) => ({ ...newCounters(), ...some });

it.each([
  ['nothing yet', {}, 1_200, 0, '0 of 1,200 requests · sent 0 · looked up 0 · changed 0 · failed 0'],
  [
    'a rate after a second, and the time left',
    { sent: 10, lookedUp: 590, changed: 12 },
    1_200,
    6_000,
    '600 of 1,200 requests · 100/s · 6 s left · sent 10 · looked up 590 · changed 12 · failed 0',
  ],
  [
    'more than was expected',
    { sent: 10, lookedUp: 12 },
    20,
    2_000,
    '22 of 22 requests · 11/s · 0 s left · sent 10 · looked up 12 · changed 0 · failed 0',
  ],
  [
    'long times',
    { lookedUp: 10 },
    10_010,
    10_000,
    '10 of 10,010 requests · 1.0/s · 2 h 47 min left · sent 0 · looked up 10 · changed 0 · failed 0',
  ],
  [
    'no total of an older daemon',
    { lookedUp: 4 },
    undefined,
    500,
    '4 requests · sent 0 · looked up 4 · changed 0 · failed 0',
  ],
])('the progress of a pass says %s', (_name, some, requests, elapsedMs, expected) => {
  expect(progressText({ counts: counts(some), requests }, elapsedMs)).toBe(expected);
});

it('draws on a terminal alone, no wider than that, and lets other lines stand above it', async () => {
  const written: string[] = [];
  const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 30, rows: 10 });
  stream.on('data', (chunk: Buffer) => written.push(chunk.toString()));
  const clock = { monotonic: () => 0 };
  using line = await progressLine(stream as never, clock);
  line.show({ counts: counts({}), requests: 1_200 });
  line.above(() => stream.write('a warning\n'));
  const text = written.join('');
  const drawings = text.split('0 of 1,200 requests · sent 0 …');
  expect(drawings).toHaveLength(3);
  // The line is taken away before the warning, and drawn anew below it.
  const [taken = '', after] = drawings[1]?.split('a warning\n') ?? [];
  expect(taken).toContain('\u001b[');
  expect(after).toBeDefined();
  line[Symbol.dispose]();
  const drawn = written.length;
  line.above(() => {});
  expect(written.slice(drawn).join('')).not.toContain('1,200');

  const pipe = Object.assign(new PassThrough(), { isTTY: false });
  using none = await progressLine(pipe as never, clock);
  none.show({ counts: counts({}), requests: 1 });
  expect(pipe.read()).toBeNull();
});
