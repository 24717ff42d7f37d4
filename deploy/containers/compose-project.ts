import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const COMMAND_LIMIT_MS = 15_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** `http://127.0.0.1:<port>` behind which a container's port is published, whatever the environment chose. */
export async function composeOrigin(service: string, port: number): Promise<string> {
  return `http://${await compose('port', service, String(port))}`;
}

/** A secret of a running service, as the service itself reads it. */
export async function composeSecret(service: string, variable: string): Promise<string> {
  const read = `process.stdout.write(fs.readFileSync('/run/secrets/${variable}'))`;
  return await compose('exec', '-T', service, 'node', '-e', read);
}

async function compose(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', ['compose', ...args], {
    cwd: ROOT,
    timeout: COMMAND_LIMIT_MS,
  });
  return stdout.trim();
}
