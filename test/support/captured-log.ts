import type { Logger } from 'pino';
import { createLog } from '../../src/base/log.ts';

/** A log that a test reads. */
export interface CapturedLog {
  readonly logger: Logger;
  readonly lines: readonly Readonly<Record<string, unknown>>[];
  /** Lines with this message. */
  with(message: string | RegExp): Readonly<Record<string, unknown>>[];
  /** Resolves at the next line with this message. */
  next(message: RegExp): Promise<void>;
}

/** Collects everything that is logged. */
export function capturedLog(): CapturedLog {
  const lines: Record<string, unknown>[] = [];
  let waiting: { message: RegExp; resolve: () => void }[] = [];
  const write = (text: string) => {
    const line = JSON.parse(text) as Record<string, unknown>;
    // A field with a name of pino's own, such as `level`, or of the logger's would stand in the line twice.
    if (`${JSON.stringify(line)}\n` !== text) throw new Error(`a line has a field twice: ${text}`);
    lines.push(line);
    for (const { resolve } of waiting.filter(({ message }) => message.test(String(line['msg'])))) resolve();
    waiting = waiting.filter(({ message }) => !message.test(String(line['msg'])));
  };
  return {
    logger: createLog('trace', { write }),
    lines,
    with: (message) => lines.filter(({ msg }) => String(msg).search(message) >= 0),
    next: (message) => new Promise((resolve) => waiting.push({ message, resolve })),
  };
}
