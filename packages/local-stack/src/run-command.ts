import { StartupFailure } from './startup-failure.ts';

/** Runs a command; what a person can act on is one line and exit code 1, anything else is a bug. */
export async function runCommand(command: () => Promise<void>): Promise<void> {
  try {
    await command();
  } catch (error) {
    process.exitCode = 1;
    if (!(error instanceof StartupFailure)) throw error;
    printFailure(error);
  }
}

/** The message, and below it the last lines of the log it speaks of. */
export function printFailure(failure: StartupFailure): void {
  process.stderr.write(`error: ${failure.message}\n`);
  for (const line of failure.logLines) process.stderr.write(`  | ${line}\n`);
}
