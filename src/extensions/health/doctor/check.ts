import { once } from 'node:events';
import { deadline } from '../../../base/clock.ts';
import { problemText, type Problem } from '../../../accounts/problem.ts';
import { explainError, EXIT } from '../../../cli/shared/exit.ts';
import { pasteable } from '../../../base/invocation.ts';

export interface CheckResult {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'fault';
  readonly found: string;
  readonly remedy: string | null;
  readonly exitCode: number;
  /** Numbers and flags for a support file. They name no person and no host. */
  readonly facts?: Readonly<Record<string, number | boolean | string>>;
}

/** Looks at one thing. `run` need not catch errors; a check that takes longer than its deadline is a fault. */
export interface Check {
  readonly name: string;
  readonly ofDatabase?: boolean;
  run(signal: AbortSignal): Promise<readonly CheckResult[]>;
}

const DEADLINE_MS = 10_000;

type Facts = CheckResult['facts'];

export function ok(check: string, found: string, facts: Facts = {}): CheckResult {
  return { check, level: 'ok', found, remedy: null, exitCode: EXIT.ok, facts };
}

export function warning(check: string, found: string, remedy: string, facts: Facts = {}): CheckResult {
  return { check, level: 'warning', found, remedy: pasteable(remedy), exitCode: EXIT.look, facts };
}

export function ofProblem(check: string, problem: Problem, facts: Facts = {}): CheckResult {
  // The reader runs `order-sync doctor` already.
  const isHere = problem.remedy.startsWith('order-sync doctor');
  return warning(check, problemText(problem), isHere ? 'read what the other checks found' : problem.remedy, facts);
}

export function fault(check: string, exitCode: number, found: string, remedy: string, facts: Facts = {}): CheckResult {
  return { check, level: 'fault', found: pasteable(found), remedy: pasteable(remedy), exitCode, facts };
}

export async function runCheck(check: Check): Promise<readonly CheckResult[]> {
  const signal = deadline(DEADLINE_MS);
  const tooLate = once(signal, 'abort').then(() => {
    throw new Error('no answer in time');
  });
  try {
    return await Promise.race([check.run(signal), tooLate]);
  } catch (error) {
    const { code, message } = explainError(error);
    const [exitCode, found] = signal.aborted ? [EXIT.unavailable, 'no answer in time'] : [code, message];
    return [fault(check.name, exitCode, found, 'fix this, then run order-sync doctor again')];
  }
}

const GRAVITY = [EXIT.config, EXIT.data, EXIT.disk, EXIT.keyRefused, EXIT.owned, EXIT.unavailable];

export function exitCodeOf(results: readonly CheckResult[]): number {
  const codes: readonly number[] = results.map(({ exitCode }) => exitCode);
  return GRAVITY.find((code) => codes.includes(code)) ?? codes.find((code) => code !== EXIT.ok) ?? EXIT.ok;
}
