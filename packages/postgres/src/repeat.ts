type Repetition = {
  triesMax: number;
  /** Whether a further try may succeed. */
  mayRepeat(error: unknown): boolean;
  /** Before a further try; `tries` have failed. */
  pause?(tries: number): Promise<unknown>;
};

/** Repeats the work from its start while `mayRepeat` allows it. */
export async function repeat<T>(
  work: () => Promise<T>,
  { triesMax, mayRepeat, pause }: Repetition,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (tries === triesMax || !mayRepeat(error)) throw error;
      await pause?.(tries);
    }
  }
}
