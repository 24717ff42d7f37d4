import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Runs a baseline as a process of its own, like each service of the mesh; it prints its URL when it listens. */
export async function runBaseline(
  server: URL,
  settings: Readonly<Record<string, string | undefined>>,
  work: (url: string, pid: number) => Promise<void>,
): Promise<void> {
  const child = spawn(process.execPath, [fileURLToPath(server)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_ENV: 'production', ...settings },
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    await work(line.toString().trim(), child.pid ?? 0);
  } finally {
    child.kill('SIGTERM');
  }
}
