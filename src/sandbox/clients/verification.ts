import { nameAfter } from '../names.ts';

/** One step of a link's verification, `afterMs` after the step before it. */
export interface VerificationStep {
  readonly afterMs: number;
  readonly status: string;
}

/**
 * How the verification of a client goes on, by name. The interface shows NOT_VERIFIED and no transition (§3): the other
 * statuses, their order and their delays are ours, and a real exchange will differ.
 */
export const VERIFICATIONS: Readonly<Record<string, readonly VerificationStep[]>> = {
  verified: [
    { afterMs: 5_000, status: 'PENDING' },
    { afterMs: 10_000, status: 'VERIFIED' },
  ],
  refused: [
    { afterMs: 5_000, status: 'PENDING' },
    { afterMs: 10_000, status: 'REFUSED' },
  ],
  /** Is verified, and later is not. */
  lapsed: [
    { afterMs: 5_000, status: 'PENDING' },
    { afterMs: 10_000, status: 'VERIFIED' },
    { afterMs: 3_600_000, status: 'NOT_VERIFIED' },
  ],
  'not-begun': [],
};

/** The verification that an e-mail address `verification-<name>-…` asks for; `verified` for the others. */
export function verificationOf(email: string): readonly VerificationStep[] {
  return VERIFICATIONS[nameAfter('verification-', email, Object.keys(VERIFICATIONS)) ?? 'verified'] ?? [];
}

/** The status of a link so long after it was made. */
export function statusAfter(steps: readonly VerificationStep[], elapsedMs: number, speed: number): string {
  let status = 'NOT_VERIFIED';
  let at = 0;
  for (const step of steps) {
    at += step.afterMs / speed;
    if (at > elapsedMs) break;
    status = step.status;
  }
  return status;
}
