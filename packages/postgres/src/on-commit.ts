/** What waits for the end of each transaction in progress. */
const waiting = new WeakMap<object, (() => void)[]>();

/**
 * Runs `work` once what was written by `db`, a transaction or a database, is committed. It never runs where that is
 * rolled back: for what is counted. Outside of a transaction each statement has committed by the time it answers, so
 * `work` runs at once. It may not throw.
 */
export function onCommit(db: object, work: () => void): void {
  const ofTransaction = waiting.get(db);
  if (ofTransaction === undefined) work();
  else ofTransaction.push(work);
}

/** Takes what is given for a transaction that begins; the answer runs it. For the pool alone. */
export function collectForCommit(tx: object): () => void {
  const works: (() => void)[] = [];
  waiting.set(tx, works);
  return () => {
    for (const work of works) work();
  };
}
