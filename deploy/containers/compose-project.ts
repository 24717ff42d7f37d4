import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const COMMAND_LIMIT_MS = 30_000;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** `http://127.0.0.1:<port>` behind which a container's port is published, whatever the environment chose. */
export async function composeOrigin(service: string, port: number): Promise<string> {
  return `http://${await compose('port', service, String(port))}`;
}

/** A secret of a running service, as the service itself reads it. */
export async function composeSecret(service: string, variable: string): Promise<string> {
  const read = `process.stdout.write(fs.readFileSync('/run/secrets/${variable}', 'utf8'))`;
  return await compose('exec', '-T', service, 'node', '-e', read);
}

/** Ids of a service's containers that run, the first first. */
export async function containersOf(service: string): Promise<string[]> {
  const ids = (await compose('ps', '--quiet', service)).split('\n');
  return ids.filter((id) => id !== '');
}

/** `/metrics` of the process in a container, as text. */
export async function metricsOf(container: string): Promise<string> {
  const read =
    "fetch('http://127.0.0.1:9090/metrics').then((answer) => answer.text()).then(console.log)";
  return (await docker('exec', container, 'node', '-e', read)).stdout;
}

/** As a lost machine: no signal that could be answered. */
export async function killContainer(container: string): Promise<void> {
  await docker('kill', container);
}

async function compose(...args: string[]): Promise<string> {
  return (await docker('compose', ...args)).stdout.trim();
}

async function docker(...args: string[]) {
  return await promisify(execFile)('docker', args, {
    cwd: ROOT,
    timeout: COMMAND_LIMIT_MS,
    maxBuffer: 16 * 1024 * 1024,
  });
}
