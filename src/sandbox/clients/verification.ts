import { nameAfter } from '../names.ts';

/** One step of the verification of a link, `afterMs` after the step before. */
export interface VerificationStep {
  readonly afterMs: number;
  readonly status: string;
}

/**
 * Courses of a verification, by name. The interface shows only NOT_VERIFIED (§3): the other statuses, their order and
 * their delays are ours, and a real exchange will differ.
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
  /** Verified, and later not any more. */
  lapsed: [
    { afterMs: 5_000, status: 'PENDING' },
    { afterMs: 10_000, status: 'VERIFIED' },
    { afterMs: 3_600_000, status: 'NOT_VERIFIED' },
  ],
  'not-begun': [],
};

/** Finds the verification that an e-mail address `verification-<name>-…` asks for; `verified` for all others. */
export function verificationOf(email: string): readonly VerificationStep[] {
  return VERIFICATIONS[nameAfter('verification-', email, Object.keys(VERIFICATIONS)) ?? 'verified'] ?? [];
}

/** Gives the status of a link that was created `elapsedMs` ago. */
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
