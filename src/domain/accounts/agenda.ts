/** Times of accounts, of each one at the most: which come next is known without looking at all of them. */
export class DueTimes {
  /** A heap by time. What was planned otherwise since is left in it until it is met. */
  #heap: Entry[] = [];
  readonly #planned = new Map<string, number>();

  get size(): number {
    return this.#planned.size;
  }

  /** The time that is planned for an account, in the unit of the caller. */
  of(account: string): number | undefined {
    return this.#planned.get(account);
  }

  /** Plans a time for an account in place of another one; undefined for none. */
  plan(account: string, at: number | undefined): void {
    if (this.#planned.get(account) === at) return;
    if (at === undefined) {
      this.#planned.delete(account);
      return;
    }
    this.#planned.set(account, at);
    push(this.#heap, { at, account });
    if (this.#heap.length > 2 * this.#planned.size + MOST_LEFT) this.#rebuild();
  }

  /** Plans a time where none is planned, or a later one. */
  setEarlier(account: string, at: number): void {
    if (at < (this.#planned.get(account) ?? Number.POSITIVE_INFINITY)) this.plan(account, at);
  }

  /** Takes out the accounts whose time has come at `until`, the earliest first. */
  take(until: number): string[] {
    const due: string[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.at <= until; first = this.#heap[0]) {
      pop(this.#heap);
      if (this.#planned.get(first.account) !== first.at) continue;
      this.#planned.delete(first.account);
      due.push(first.account);
    }
    return due;
  }

  #rebuild(): void {
    this.#heap = [...this.#planned]
      .map(([account, at]) => ({ account, at }))
      .toSorted((one, other) => one.at - other.at);
  }
}

interface Entry {
  readonly at: number;
  readonly account: string;
}

/** Entries that may be left in a small heap. */
const MOST_LEFT = 64;

function push(heap: Entry[], entry: Entry): void {
  let place = heap.length;
  while (place > 0) {
    const above = (place - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || parent.at <= entry.at) break;
    heap[place] = parent;
    place = above;
  }
  heap[place] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let place = 0;
  for (;;) {
    const [left, right] = [heap[2 * place + 1], heap[2 * place + 2]];
    if (left === undefined) break;
    const isRight = right !== undefined && right.at < left.at;
    const child = isRight ? right : left;
    if (child.at >= last.at) break;
    heap[place] = child;
    place = 2 * place + (isRight ? 2 : 1);
  }
  heap[place] = last;
}
