import { BEGINNING, type Plan } from '../plan/plan.ts';
import type { Knowledge } from './known.ts';
import type { Ended } from './requests.ts';

/** Checks that creates are slowed only if they were lost while the exchange served everything else, time after time. */
export class SlowedChecks {
  readonly #plan: Plan;
  readonly #knowledge: Knowledge;
  readonly #slowedSince: () => string | undefined;
  /** Times since a create was last accepted in which creates were lost and a request was answered after that. */
  #shown = 0;
  #isLost = false;
  /** Creates that left before then were lost together. */
  #lostAt = Number.NEGATIVE_INFINITY;
  #acceptedAt = Number.NEGATIVE_INFINITY;

  /** `slowedSince` reads since when the database says that creates are slowed. */
  constructor(plan: Plan, knowledge: Knowledge, slowedSince: () => string | undefined) {
    this.#plan = plan;
    this.#knowledge = knowledge;
    this.#slowedSince = slowedSince;
  }

  /** The outcome of a create that left at `leftAt`, or of a look-up if that is undefined, has reached the process. */
  ended({ response, sent }: Ended, id: string, leftAt: number | undefined, now: number): void {
    const isAnswered = response !== undefined && response.status < 500;
    if (isAnswered && this.#isLost) {
      this.#shown += 1;
      this.#isLost = false;
    }
    if (leftAt === undefined) {
      // With a Retry-After it is the exchange that asks to wait.
      if (!isAnswered && response?.retryAfter === undefined) this.#isLost = false;
    } else if (isAnswered && isPreOrderOf(response.body, id)) {
      [this.#shown, this.#isLost, this.#acceptedAt] = [0, false, now];
    } else if (!this.#isLost && leftAt >= this.#lostAt && sent !== 'never' && !isRefusal(response?.status)) {
      [this.#isLost, this.#lostAt] = [true, now];
    }
  }

  /** The next process takes for shown what this one knew of a create that was lost. */
  died(): void {
    this.#shown += 1;
    this.#isLost = false;
  }

  /** The database is in an older state. */
  restored(): void {
    this.#shown = Number.POSITIVE_INFINITY;
  }

  check(): void {
    if (this.#plan.clockSet.length > 0 || this.#plan.shared !== null) return;
    const since = Date.parse(this.#slowedSince() ?? '') - BEGINNING;
    const needed = Math.min(2, this.#plan.settings.pauseAfterUnknown);
    if (since > this.#acceptedAt + 1 && this.#shown < needed)
      this.#knowledge.fail('creates are slowed if they alone are lost', `shown ${this.#shown} times`);
  }
}

function isRefusal(status = 0): boolean {
  return status >= 400 && status < 500;
}

/** An answer that names two ids cannot be read. */
function isPreOrderOf(body: string, id: string): boolean {
  try {
    const preOrder = JSON.parse(body) as Readonly<Record<string, unknown>> | null;
    const isNamedOnce = body.match(/"(id|externalOrderId)":/g)?.length === 2;
    return isNamedOnce && typeof preOrder?.['id'] === 'string' && preOrder['externalOrderId'] === id;
  } catch {
    return false;
  }
}
