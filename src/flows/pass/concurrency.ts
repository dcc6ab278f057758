/**
 * Does the work for each item of a stream, at most `limit` at a time, until the stream ends. Rejects with the first
 * error, once the items in flight are done.
 */
export async function forEachConcurrently<Item>(
  items: AsyncIterable<Item>,
  limit: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let hasFailed = false;
  const workers = Array.from({ length: limit }, async () => {
    try {
      while (!hasFailed) {
        const next = await iterator.next();
        if (next.done === true) return;
        await work(next.value);
      }
    } catch (error) {
      hasFailed = true;
      throw error;
    }
  });
  const results = await Promise.allSettled(workers);
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}
