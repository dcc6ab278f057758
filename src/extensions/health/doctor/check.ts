import { once } from 'node:events';
import { problemText } from '../../operate/rules/problems.ts';
import { deadline } from '../../../base/clock.ts';
import type { Problem } from '../../commands/problem.ts';
import { explainError, EXIT } from '../../../cli/shared/exit.ts';
import { pasteable } from '../../../base/invocation.ts';

export interface CheckResult {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'fault';
  readonly found: string;
  readonly remedy: string | null;
  readonly exitCode: number;
  /** Values for a support file. They name no person and no host. */
  readonly facts?: Readonly<Record<string, number | boolean | string>>;
}

/** `run` need not catch errors, because `runCheck` reports an error, or no result within 10 s, as a fault. */
export type Check = readonly [
  name: string,
  run: (signal: AbortSignal) => Promise<readonly CheckResult[]>,
  needsDatabase?: boolean,
];

const DEADLINE_MS = 10_000;

type Facts = CheckResult['facts'];

export function ok(check: string, found: string, facts: Facts = {}): CheckResult {
  return { check, level: 'ok', found, remedy: null, exitCode: EXIT.ok, facts };
}

export function warning(check: string, found: string, remedy: string, facts: Facts = {}): CheckResult {
  return { check, level: 'warning', found, remedy: pasteable(remedy), exitCode: EXIT.look, facts };
}

export function ofProblem(check: string, problem: Problem, facts: Facts = {}): CheckResult {
  // The person already runs `order-sync doctor`, so that command is no remedy.
  const isHere = problem.remedy.startsWith('order-sync doctor');
  return warning(check, problemText(problem), isHere ? 'read what the other checks found' : problem.remedy, facts);
}

export function fault(check: string, exitCode: number, found: string, remedy: string, facts: Facts = {}): CheckResult {
  return { check, level: 'fault', found: pasteable(found), remedy: pasteable(remedy), exitCode, facts };
}

export async function runCheck([name, run]: Check): Promise<readonly CheckResult[]> {
  const signal = deadline(DEADLINE_MS);
  const tooLate = once(signal, 'abort').then(() => {
    throw new Error('no answer in time');
  });
  try {
    return await Promise.race([run(signal), tooLate]);
  } catch (error) {
    const { code, message } = explainError(error);
    const [exitCode, found] = signal.aborted ? [EXIT.unavailable, 'no answer in time'] : [code, message];
    return [fault(name, exitCode, found, 'fix this, then run order-sync doctor again')];
  }
}

const GRAVITY = [EXIT.config, EXIT.data, EXIT.disk, EXIT.keyRefused, EXIT.owned, EXIT.unavailable];

export function exitCodeOf(results: readonly CheckResult[]): number {
  const codes: readonly number[] = results.map(({ exitCode }) => exitCode);
  return GRAVITY.find((code) => codes.includes(code)) ?? codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
}
