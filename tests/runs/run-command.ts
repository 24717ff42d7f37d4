import { spawn } from 'node:child_process';

type CommandOptions = {
  env?: NodeJS.ProcessEnv;
  /** After this time it is asked to end, and has failed. */
  limitMs?: number;
};

const ENDED_BY_LIMIT = 124;
/** Vitest stops the infrastructure that it has booted. */
const END_LIMIT_MS = 60_000;

/** Runs a program with this one's terminal, and answers its exit code. */
export function runCommand(
  command: string,
  args: readonly string[],
  options: CommandOptions = {},
): Promise<number> {
  return new Promise((resolve) => {
    const env = { ...process.env, ...options.env };
    const child = spawn(command, args, { stdio: 'inherit', env });
    const timers: NodeJS.Timeout[] = [];
    let isLate = false;
    if (options.limitMs !== undefined) {
      timers.push(setTimeout(end, options.limitMs));
    }
    child.on('error', () => finish(1));
    child.on('exit', (code) => finish(isLate ? ENDED_BY_LIMIT : (code ?? 1)));

    function end(): void {
      isLate = true;
      child.kill('SIGTERM');
      timers.push(setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS));
    }

    function finish(code: number): void {
      for (const timer of timers) clearTimeout(timer);
      resolve(code);
    }
  });
}
