const waiting = new WeakMap<AbortSignal, { readonly acts: Set<() => void>; readonly listener: () => void }>();

/** Calls `act` when `signal` aborts. Acts share one listener, because Node compares a new listener with all others. */
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
