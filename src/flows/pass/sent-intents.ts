/** The intent of a create that this process committed. */
export interface SentIntent {
  readonly account: string;
  readonly externalOrderId: string;
  /** As the row has it. */
  readonly sentAt: string;
}

/** When a process began to drive an account, and as its owner of which generation. */
export interface OwnedSince {
  readonly generation: number;
  readonly at: Date;
}

/** Older intents than this many are forgotten: some 20 minutes at 8 a second. */
const MOST_KEPT = 10_000;

/**
 * The newest intents that this process committed, in all accounts: after a fail-over they tell exactly which creates the promoted
 * server knows nothing of.
 */
export class SentIntents {
  /** By the order's key; the oldest first. */
  readonly #kept = new Map<string, SentIntent>();
  readonly #forgotten = new Map<string, SentIntent>();
  readonly #owned = new Map<string, OwnedSince>();
  readonly #lostIn = new Map<string, string>();

  /** The process drives an account as its owner of a generation from now on. */
  begin(account: string, since: OwnedSince): void {
    this.#owned.set(account, since);
    this.#lostIn.delete(account);
  }

  /**
   * Returns true if the fail-over that was noticed then is the first one that this process saw since it drove the account. After a
   * second one, the server between the two may have had another owner, of which the newest server knows nothing.
   */
  isFirstLoss(account: string, seenAt: string): boolean {
    const first = this.#lostIn.get(account) ?? seenAt;
    this.#lostIn.set(account, first);
    return first === seenAt;
  }

  add(intent: SentIntent): void {
    const key = JSON.stringify([intent.account, intent.externalOrderId]);
    this.#kept.delete(key);
    this.#kept.set(key, intent);
    const [oldest] = this.#kept;
    if (this.#kept.size <= MOST_KEPT || oldest === undefined) return;
    this.#kept.delete(oldest[0]);
    this.#forgotten.set(oldest[1].account, oldest[1]);
  }

  /** The accounts that this process has driven. */
  get accounts(): readonly string[] {
    return [...this.#owned.keys()];
  }

  /** Since when this process last drove the account; undefined if it never did. */
  ownedSince(account: string): OwnedSince | undefined {
    return this.#owned.get(account);
  }

  of(account: string): readonly SentIntent[] {
    return [...this.#kept.values()].filter((intent) => intent.account === account);
  }

  /** The newest intent of the account that is no longer kept; undefined if all are. */
  forgottenOf(account: string): SentIntent | undefined {
    return this.#forgotten.get(account);
  }
}
