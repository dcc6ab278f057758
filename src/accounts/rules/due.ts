export type DueKind = 'create' | 'verify' | 'follow';

/** The first due time of each kind, in ms of UTC; undefined if no work of the kind is waiting. */
type FirstDue = Readonly<Partial<Record<DueKind, number | undefined>>>;

/** The first due times of an account. `take` takes each only once, so that work that stays due wakes no pass again. */
export class DueTimes {
  #first: FirstDue = {};
  #wokenFor: FirstDue = {};

  get isAny(): boolean {
    return Object.values(this.#first).some((at) => at !== undefined);
  }

  read(times: FirstDue): void {
    this.#first = { ...this.#first, ...times };
    for (const kind of Object.keys(times) as DueKind[]) {
      if (this.#first[kind] !== this.#wokenFor[kind]) this.#wokenFor = { ...this.#wokenFor, [kind]: undefined };
    }
  }

  isDue(kind: DueKind, until: number): boolean {
    const at = this.#first[kind];
    return at !== undefined && at <= until;
  }

  /** The next time at which a pass of the kind must be woken; infinite if there is none. */
  next(kind: DueKind): number {
    const at = this.#first[kind];
    return at === undefined || at === this.#wokenFor[kind] ? Number.POSITIVE_INFINITY : at;
  }

  /** Returns true if the due time of the kind has come by `until`, but only once for the same due time. */
  take(kind: DueKind, until: number): boolean {
    if (this.next(kind) > until) return false;
    this.#wokenFor = { ...this.#wokenFor, [kind]: this.#first[kind] };
    return true;
  }

  forgetWakes(): void {
    this.#wokenFor = {};
  }
}
