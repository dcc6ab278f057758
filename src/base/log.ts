import { styleText } from 'node:util';
import { pino, type DestinationStream, type LevelWithSilent, type Logger } from 'pino';
import { systemClock } from './clock.ts';
import { printable, printableJson } from './words.ts';

/** Makes a log with a line of JSON for each event. On a terminal, the default output shows lines for people. */
export function createLog(level: LevelWithSilent, destination: DestinationStream = standardOutput()): Logger {
  const formatters = { level: (name: string) => ({ level: name }) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, destination);
}

type LineForm = (line: string) => string;

function standardOutput(): DestinationStream {
  return linesOfTurns(() => pino.destination({ fd: 1, sync: true }), formFor(process.stdout));
}

export function standardError(): DestinationStream {
  const [output, form] = [pino.destination({ fd: 2, sync: true }), formFor(process.stderr)];
  return { write: (line) => void output.write(form(line)) };
}

function formFor(stream: NodeJS.WriteStream): LineForm {
  if (!stream.isTTY) return printableJson;
  return (line) => lineForPeople(line, (style, text) => styleText(style, text, { stream }));
}

type Style = Parameters<typeof styleText>[0];

const STYLE_OF: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: ['bold', 'red'] };

/** Returns a line for people: the time of day (UTC), the level, the message, and the facts, with the cause last. */
export function lineForPeople(line: string, paint: (style: Style, text: string) => string): string {
  const { level, time, msg, cause, ...facts } = JSON.parse(line) as Readonly<Record<string, unknown>>;
  const name = String(level);
  const style = STYLE_OF[name];
  const shown = Object.entries({ ...facts, ...(cause !== undefined && { cause }) }).map(([key, value]) => {
    const isTime = key.endsWith('Ms') && typeof value === 'number';
    return isTime ? `${printable(key.slice(0, -2))}=${shownTime(value)}` : `${printable(key)}=${shownFact(value)}`;
  });
  const word = style === undefined ? name.padEnd(5) : paint(style, name.padEnd(5));
  return `${String(time).slice(11, 19)}Z ${[word, printable(String(msg)), ...shown].join(' ')}\n`;
}

/** Returns milliseconds as people write a duration: `250ms`, `5s`, `10m1s`, `3h20m`, `2d4h`. */
function shownTime(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  const seconds = Math.floor(ms / 1_000);
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'm'],
    [seconds % 60, 's'],
  ] as const;
  const first = parts.findIndex(([count]) => count > 0);
  const [most, next] = parts.slice(first, first + 2);
  return [most, next].map((part) => (part === undefined || part[0] === 0 ? '' : part.join(''))).join('');
}

function shownFact(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"=]+$/.test(value);
  return printable(isWord ? value : JSON.stringify(value));
}

/** Lines of this many turns of the event loop are written at once, because a write takes longer than making a line. */
const TURNS = 8;

/** Writes the lines of several turns at once. Lines that cannot be written are counted; the count is logged later. */
export function linesOfTurns(open: () => Output, form: LineForm = (line) => line): DestinationStream {
  const clock = systemClock();
  let output = open();
  let waiting = '';
  let lost = 0;
  const isWritten = (text: string): boolean => {
    let hasFailed = false;
    const onError = () => (hasFailed = true);
    output.on('error', onError);
    output.write(text);
    output.off('error', onError);
    // A failed output keeps its unwritten lines in memory, so a new output takes its place.
    if (hasFailed) output = open();
    return !hasFailed;
  };
  const flush = () => {
    const lines = waiting;
    waiting = '';
    if (lines === '') return;
    lost = isWritten((lost === 0 ? '' : lossOf(lost)) + lines) ? 0 : lost + lines.split('\n').length - 1;
  };
  const lossOf = (count: number) => {
    const msg = 'lines of the log could not be written';
    const loss = JSON.stringify({ level: 'warn', time: clock.now().toISOString(), lines: count, msg });
    // Part of a line may have been written, so this message begins on a new line.
    return `\n${form(`${loss}\n`)}`;
  };
  const flushSoon = async () => {
    for (let turns = 0; turns < TURNS; turns += 1) await clock.turn();
    flush();
  };
  process.once('exit', flush);
  return {
    write(line) {
      if (waiting === '') void flushSoon();
      waiting += form(line);
    },
  };
}

type Output = Pick<ReturnType<typeof pino.destination>, 'write' | 'on' | 'off'>;
