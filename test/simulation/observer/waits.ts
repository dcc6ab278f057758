import { BEGINNING, type Plan } from '../plan/plan.ts';
import type { Knowledge } from './known.ts';
import type { Ended } from './requests.ts';

/** A create with a turn leaves: its intent may wait for the database meanwhile. */
const WITHIN_MS = 20_000;
const UNREADABLE_MS = 5_000;
const LONGEST_MS = 24 * 3_600_000;

/** Checks that nothing leaves while the exchange wants none, by 429 or by Retry-After, whoever drives the account by then. */
export class WaitChecks {
  readonly #plan: Plan;
  readonly #knowledge: Knowledge;
  readonly #storedUntil: () => string | undefined;
  #wait: { readonly from: number; readonly until: number } | undefined;

  /** `storedUntil` reads until when the database says that the account is held for that. */
  constructor(plan: Plan, knowledge: Knowledge, storedUntil: () => string | undefined) {
    this.#plan = plan;
    this.#knowledge = knowledge;
    this.#storedUntil = storedUntil;
  }

  left(what: string, now: number): void {
    const wait = this.#wait;
    if (wait !== undefined && now > wait.from + WITHIN_MS && now < wait.until)
      this.#knowledge.fail('Retry-After kept', `${what} left at ${now}, ${wait.until - now} ms too soon`);
  }

  /** An answer has reached the process that drives the account. */
  answered({ response }: Ended, now: number): void {
    // The meaning of a date is another question if the clock is wrong; a late owner writes nothing any more.
    if (response === undefined || this.#plan.clockSet.length > 0 || this.#plan.shared !== null) return;
    const { status, retryAfter } = response;
    if (status !== 429 && !(status === 503 && retryAfter !== undefined)) return;
    const until = now + waitMs(retryAfter?.trim() ?? '', BEGINNING + now);
    const known = this.#wait === undefined || this.#wait.until <= now ? undefined : this.#wait;
    this.#wait = { from: known?.from ?? now, until: Math.max(known?.until ?? 0, until) };
  }

  /** The process has died: what it had not written yet is not known to the next one. */
  died(): void {
    const stored = Date.parse(this.#storedUntil() ?? '') - BEGINNING;
    if (this.#wait === undefined) return;
    this.#wait = Number.isNaN(stored) ? undefined : { ...this.#wait, until: Math.min(this.#wait.until, stored) };
  }
}

function waitMs(text: string, now: number): number {
  const asked = /^\d+(\.\d*)?$/.test(text) ? Number(text) * 1_000 : text.endsWith('GMT') ? Date.parse(text) - now : NaN;
  return Number.isNaN(asked) ? UNREADABLE_MS : Math.min(Math.max(asked, 0), LONGEST_MS);
}
