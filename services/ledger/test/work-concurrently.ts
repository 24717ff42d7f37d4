/** More than a topic has partitions and a test's pool has connections. */
const WORKERS = 20;

/** Works on many items, a bounded number of them at the same time. */
export async function workConcurrently<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const workers = Array.from({ length: WORKERS }, async () => {
    for (const item of waiting) await work(item);
  });
  await Promise.all(workers);
}
