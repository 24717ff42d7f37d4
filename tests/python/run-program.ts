import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Runs a program to its end; throws what it said where it fails. Not in one turn of the event loop: meanwhile idle
 * connections of the tests come to their end, and a request on one that has ended would fail.
 */
export async function runProgram(
  command: string,
  args: readonly string[],
  options: { timeoutMs: number; env?: Record<string, string> },
): Promise<void> {
  const { timeoutMs, env = {} } = options;
  try {
    await promisify(execFile)(command, args, {
      env: { ...process.env, ...env },
      timeout: timeoutMs,
    });
  } catch (error) {
    const { message, stdout = '', stderr = '' } = error as Error & Record<string, string>;
    throw new Error(`${path.basename(command)} failed: ${message}${stdout}${stderr}`, {
      cause: error,
    });
  }
}
