import { pino, type DestinationStream, type Logger } from 'pino';
import { systemClock } from './clock.ts';
import type { Config } from './config/config.ts';

/** A log of one JSON line an event. */
export function createLog({ log }: Pick<Config, 'log'>, destination: DestinationStream = linesOfTurns()): Logger {
  return pino({ level: log.level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, destination);
}

/**
 * Standard output. The lines of one turn of the event loop go in one write, at its end or when the process exits: a kill
 * loses the lines of the turn that it breaks off, as if it had come before them.
 */
function linesOfTurns(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true });
  const clock = systemClock();
  let waiting = '';
  const flush = () => {
    const lines = waiting;
    waiting = '';
    if (lines !== '') output.write(lines);
  };
  process.once('exit', flush);
  return {
    write(line) {
      if (waiting === '') void clock.turn().then(flush);
      waiting += line;
    },
  };
}
