import { pino, type DestinationStream, type Logger } from 'pino';
import { systemClock } from './clock.ts';
import type { Config } from './config/config.ts';

/** A log of one JSON line an event. */
export function createLog({ log }: Pick<Config, 'log'>, destination: DestinationStream = linesOfTurns()): Logger {
  return pino({ level: log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/**
 * Standard output. The lines of one turn of the event loop go in one write, at its end or when the process exits: a kill
 * loses the lines of the turn that it breaks off, as if it had come before them. Lines that cannot be written (a full disk, a
 * reader that is gone) are counted, and the count is written as soon as something can be: no log is worth an order.
 */
export function linesOfTurns(open: () => Output = () => pino.destination({ fd: 1, sync: true })): DestinationStream {
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
    // An output that has failed would keep what it could not write, without a limit.
    if (hasFailed) output = open();
    return !hasFailed;
  };
  const flush = () => {
    const lines = waiting;
    waiting = '';
    if (lines === '') return;
    const loss = {
      level: 40,
      time: clock.now().toISOString(),
      lines: lost,
      msg: 'lines of the log could not be written',
    };
    // Part of a line may have been written.
    const before = lost === 0 ? '' : `\n${JSON.stringify(loss)}\n`;
    lost = isWritten(before + lines) ? 0 : lost + lines.split('\n').length - 1;
  };
  process.once('exit', flush);
  return {
    write(line) {
      if (waiting === '') void clock.turn().then(flush);
      waiting += line;
    },
  };
}

/** What lines are written to, at once; it says by an event where it cannot. */
type Output = Pick<ReturnType<typeof pino.destination>, 'write' | 'on' | 'off'>;
