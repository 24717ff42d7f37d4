/** More than a topic has partitions and a test's pool has connections. */
const LANES = 20;

/** Works on many items, a bounded number of them at the same time. */
export async function inLanes<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lanes = Array.from({ length: LANES }, async () => {
    for (const item of waiting) await work(item);
  });
  await Promise.all(lanes);
}
