/** Does `count` things, so many at once. */
export async function inParallel(
  { count, workers }: { count: number; workers: number },
  doOne: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await doOne(index);
  };
  await Promise.all(Array.from({ length: Math.min(workers, count) }, work));
}
