/** Where a start reports what it does. `line` prints one line with the seconds since the start. */
export interface Progress {
  line(text: string): void;
  /** Announces work that may take long and reports when it is still being waited for. */
  waiting<T>(what: string, work: Promise<T>): Promise<T>;
}

/** How often work that has not ended is mentioned again. */
const REMINDER_INTERVAL_MS = 5_000;

interface ProgressOutput {
  write(text: string): unknown;
  isTTY?: boolean;
}

/** Plain lines with elapsed seconds; dimmed seconds where the output is a terminal. */
export function createProgress(output: ProgressOutput = process.stdout): Progress {
  const startedAt = performance.now();
  const line = (text: string) => {
    const seconds = `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)}s`;
    output.write(`${output.isTTY ? `\u001B[2m${seconds}\u001B[0m` : seconds}  ${text}\n`);
  };
  return { line, waiting };

  async function waiting<T>(what: string, work: Promise<T>): Promise<T> {
    const since = performance.now();
    const timer = setInterval(() => {
      const seconds = Math.round((performance.now() - since) / 1000);
      line(`still waiting: ${what} (${seconds} s)`);
    }, REMINDER_INTERVAL_MS);
    timer.unref();
    try {
      return await work;
    } finally {
      clearInterval(timer);
    }
  }
}

/** For callers that want no output, such as unit tests. */
export const noProgress: Progress = {
  line: () => undefined,
  waiting: (_what, work) => work,
};
