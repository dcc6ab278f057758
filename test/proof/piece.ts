import { fork } from 'node:child_process';
import { once } from 'node:events';
import { getPriority, setPriority } from 'node:os';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../support/supervisor.ts';
import type { Dose, Part, PieceResult } from './part.ts';

/** Work leaves the processor to what is tried in real time beside it. */
const NICER_BY = 10;
const NICEST = 19;

type Said = { readonly said: string } | { readonly result: PieceResult };

/** Runs a piece in a process of its own, which uses all cores, and keeps its work from disturbing measured times of others. */
export async function runInProcess(
  { name, isWaiting = false }: Part,
  dose: Dose,
  piece: string,
  say: (text: string) => void,
): Promise<PieceResult> {
  const child = endWithUs(fork(fileURLToPath(import.meta.url), [name, dose, piece], { execArgv: [] }));
  if (!isWaiting && child.pid !== undefined) setPriority(child.pid, Math.min(NICEST, getPriority() + NICER_BY));
  let result: PieceResult | undefined;
  child.on('message', (message: Said) => {
    if ('said' in message) say(message.said);
    else result = message.result;
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (result === undefined) throw new Error(`the process of ${name}, ${piece} ended with ${signal ?? code}`);
  return result;
}

if (import.meta.main) {
  const [name, dose, pieceName] = process.argv.slice(2);
  const { PARTS } = await import('./parts.ts');
  const pieces = PARTS.find((part) => part.name === name)?.pieces(dose as Dose);
  const send = (message: Said) => void process.send?.(message);
  const result = await pieces?.find((piece) => piece.name === pieceName)?.run((said) => send({ said }));
  // Node may wait for ever, at full speed, for sockets that were reset.
  if (result !== undefined) process.send?.({ result } satisfies Said, () => process.exit());
  else process.disconnect();
}
