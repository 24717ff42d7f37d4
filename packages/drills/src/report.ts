/** What a drill did, when, and what was not as it has to be. */
export type Report = {
  /** Times one step and prints it. What it throws ends the drill. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** From here to `stopClock` counts as the time of recovery. */
  startClock(): void;
  stopClock(): void;
  note(text: string): void;
  check(what: string, isRight: boolean, found?: string): void;
  /** Prints the end; answers whether every check was right. */
  end(): boolean;
};

export function createReport(drill: string): Report {
  const beganMs = performance.now();
  let clockMs = 0;
  let recoveredMs: number | null = null;
  let wrong = 0;
  return { step, startClock, stopClock, note, check, end };

  async function step<T>(name: string, work: () => Promise<T>): Promise<T> {
    const sinceMs = performance.now();
    try {
      const result = await work();
      note(`${name}: ${seconds(performance.now() - sinceMs)}`);
      return result;
    } catch (error) {
      note(`${name}: FAILED after ${seconds(performance.now() - sinceMs)}`);
      throw error;
    }
  }

  function startClock(): void {
    clockMs = performance.now();
  }

  function stopClock(): void {
    recoveredMs = performance.now() - clockMs;
  }

  function note(text: string): void {
    console.log(`[${drill} ${seconds(performance.now() - beganMs)}] ${text}`);
  }

  function check(what: string, isRight: boolean, found = ''): void {
    if (!isRight) wrong += 1;
    note(`${isRight ? 'ok' : 'WRONG'}: ${what}${isRight || found === '' ? '' : `: ${found}`}`);
  }

  function end(): boolean {
    if (recoveredMs !== null) note(`recovered in ${seconds(recoveredMs)}`);
    note(wrong === 0 ? 'passed' : `${wrong} wrong`);
    return wrong === 0;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
