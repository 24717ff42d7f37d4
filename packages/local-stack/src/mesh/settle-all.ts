/** Ends when none of the works goes on, and fails as the first of them that failed: what comes next overlaps with none. */
export async function settleAll(works: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works);
  const failed = outcomes.find(({ status }) => status === 'rejected');
  if (failed?.status === 'rejected') throw failed.reason;
}
