/** For each signal the acts that wait for it, and its listener, which calls them. */
const waiting = new WeakMap<AbortSignal, { readonly acts: Set<() => void>; readonly listener: () => void }>();

/**
 * Calls `act` when the signal aborts, unless the returned function was called before. A signal walks through all its listeners
 * whenever one is added, and many requests wait for the same one: so it has a single listener, and that only while any waits.
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  const { acts, listener } = waiting.get(signal) ?? begin(signal);
  acts.add(act);
  return () => {
    if (!acts.delete(act) || acts.size > 0) return;
    signal.removeEventListener('abort', listener);
    waiting.delete(signal);
  };
}

function begin(signal: AbortSignal) {
  const acts = new Set<() => void>();
  const listener = () => acts.forEach((act) => act());
  const begun = { acts, listener };
  waiting.set(signal, begun);
  signal.addEventListener('abort', listener, { once: true });
  return begun;
}
