import { PassThrough } from 'node:stream';
import { WriteStream } from 'node:tty';
import { afterEach, expect, it, vi } from 'vitest';
import { screenOf } from '../../../src/cli/shared/help.ts';

const stream = (more: object) => Object.assign(new PassThrough(), more) as unknown as NodeJS.WriteStream;
const TERMINAL = {
  isTTY: true,
  columns: 80,
  getColorDepth: WriteStream.prototype.getColorDepth.bind(WriteStream.prototype),
};

afterEach(() => vi.unstubAllEnvs());

it.each([
  ['a terminal', TERMINAL, {}, { width: 80, hasColour: true }],
  ['a terminal with NO_COLOR', TERMINAL, { NO_COLOR: '1' }, { width: 80, hasColour: false }],
  ['a terminal that does not say its width', { ...TERMINAL, columns: 0 }, {}, { width: Infinity, hasColour: true }],
  ['a pipe', {}, {}, { width: Infinity, hasColour: false }],
  ['a pipe with FORCE_COLOR', {}, { FORCE_COLOR: '1' }, { width: Infinity, hasColour: true }],
])('%s has its width and its colours', (_name, more, environment, expected) => {
  for (const name of ['NO_COLOR', 'FORCE_COLOR', 'NODE_DISABLE_COLORS', 'CI']) vi.stubEnv(name, undefined);
  vi.stubEnv('TERM', 'xterm-256color');
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
  const { now, ...screen } = screenOf(stream(more));
  expect([screen, now instanceof Date]).toEqual([expected, expected.width < Infinity]);
});
