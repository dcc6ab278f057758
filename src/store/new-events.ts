/** Tells who waits for new events that there may be some. Whoever is told reads them from the database by its own cursor. */
export class NewEvents {
  readonly #listeners = new Set<(account: string) => void>();

  /** Is called with the account after each commit of this process that added events to it; it must not throw. */
  listen(listener: (account: string) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }

  /** Events of an account were committed, here or by another process. */
  tell(account: string): void {
    for (const listener of this.#listeners) listener(account);
  }
}
