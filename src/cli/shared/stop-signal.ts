/** A second signal ends the process at once, as the shell counts it. */
const KILLED_BY_SIGNAL = 130;

/** Aborts at the first SIGINT or SIGTERM; the second ends the process at once. */
export function stopSignal(): AbortSignal {
  const stopping = new AbortController();
  const onSignal = () => {
    if (stopping.signal.aborted) process.exit(KILLED_BY_SIGNAL);
    stopping.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stopping.signal;
}
