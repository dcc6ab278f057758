import type Database from 'better-sqlite3';
import { quoted } from '../plan/names.ts';
import type { Plan } from '../plan/plan.ts';
import type { Knowledge } from './known.ts';

const MINUTE = 60_000;
const STEPS_A_CHECK = 10;
/** The waits that lone creates caused. */
const SLOWED = 'slowed';
/** Requests that may go before: each order is sent, and looked up a few times. */
const MOST_BEFORE = 20;

interface Due {
  readonly id: string;
  readonly state: string;
  readonly at: string;
}

/**
 * Checks that nothing of an account waits for what happens to other accounts: an account that nothing goes wrong with is held by
 * nothing, and what is due in it is done soon.
 */
export class PromptChecks {
  readonly #plan: Plan;
  readonly #knowledge: Knowledge;
  readonly #holds: Database.Statement;
  readonly #due: Database.Statement;
  #checks = 0;

  constructor(reader: Database.Database, plan: Plan, knowledge: Knowledge) {
    this.#plan = plan;
    this.#knowledge = knowledge;
    this.#holds = reader.prepare('select kind from account_holds where account = ?').pluck();
    this.#due = reader.prepare(
      `select external_order_id as id, state, next_action_at as at from merchant_orders
       where account = ? and next_action_at < ? and state in ('pending', 'unknown', 'accepted', 'open')`,
    );
  }

  /** `quietForMs`: for how long a process has lived without trouble with its database or its clock. */
  check(wallMs: number, quietForMs: number): void {
    const { isWell, account } = this.#plan;
    this.#checks += 1;
    if (!isWell || this.#checks % STEPS_A_CHECK > 0) return;
    const holds = this.#holds.all(account) as string[];
    const foreign = holds.find((kind) => kind !== SLOWED);
    if (foreign !== undefined) this.#knowledge.fail('a hold is of its account alone', `${account} is held: ${foreign}`);
    const sentWithin = this.#within('pending');
    if (holds.length > 0 || quietForMs < sentWithin) return;
    const due = this.#due.all(account, new Date(wallMs - sentWithin).toISOString()) as Due[];
    const late = due.find(({ state, at }) => {
      const within = this.#within(state);
      return quietForMs > within && Date.parse(at) < wallMs - within;
    });
    if (late !== undefined)
      this.#knowledge.fail(
        'no account waits for another',
        `${quoted(account, late.id)} is ${late.state}, due since ${late.at}, at ${new Date(wallMs).toISOString()}`,
      );
  }

  /** Look-ups have a share of the rate alone. */
  #within(state: string): number {
    const { settings, tickMs, sharesLimit, others } = this.#plan;
    const { rate, share } = settings;
    const users = sharesLimit ? others.length + 1 : 1;
    const turnMs = (users * rate.interval) / rate.requests / (state === 'pending' ? 1 : share);
    return 5 * MINUTE + 3 * tickMs + MOST_BEFORE * turnMs;
  }
}
