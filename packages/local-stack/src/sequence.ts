type InSequence = <T>(work: () => Promise<T>) => Promise<T>;

/** Does work piece by piece, in the order in which it was asked for; a piece that fails holds up none. */
export function createSequence(): InSequence {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = last.then(work);
    last = done.catch(() => undefined);
    return done;
  };
}
