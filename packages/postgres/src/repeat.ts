type Repetition = {
  triesMax: number;
  /** Whether a further try may succeed. */
  mayRepeat(error: unknown): boolean;
  /** Before a further try; `tries` have failed. */
  pause?(tries: number): Promise<unknown>;
};

/** Does it again from its start while it fails by what passes. */
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
