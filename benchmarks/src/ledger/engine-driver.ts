import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** What one run of the driver does; the driver is the ledger's own program, started as a process of its own. */
export type DriveInput = { url: string } & (
  | { mode: 'fund'; accounts: readonly string[] }
  | { mode: 'batches'; accounts: readonly string[]; writers: number; seconds: number }
  | { mode: 'light'; accounts: readonly string[]; seconds: number }
  /** Fails when the books are wrong: a run that breaks an invariant is void. */
  | { mode: 'audit' }
);

export type DriveOutput = { commands: number; seconds: number; p50Ms: number; p99Ms: number };

const DRIVER = 'services/ledger/test/proof/drive-engine.ts';

/** Runs the ledger's engine with the rights of the service, and nothing else in its process. */
export async function driveEngine(input: DriveInput): Promise<DriveOutput> {
  const child = spawn(process.execPath, [DRIVER], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env['PATH'], NODE_ENV: 'production' },
  });
  child.stdin.end(JSON.stringify(input));
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (child.exitCode !== 0) throw new Error(`the driver of the engine failed: ${input.mode}`);
  return JSON.parse(output) as DriveOutput;
}
