import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which the kernel gives ports to outgoing connections: between the choice of a port and its use,
 * or between two starts on one port, none of them takes it. Below the ports of a stack, too.
 */
const PORT_MIN = 10_000;
const PORT_COUNT = 5_000;
const TRIES_MAX = 100;

/** Ports that nobody listens on at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  for (let tries = 0; ports.size < count; tries += 1) {
    if (tries === TRIES_MAX) throw new Error('no free ports were found');
    const port = PORT_MIN + Math.floor(Math.random() * PORT_COUNT);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  await new Promise((resolve) => server.close(resolve));
  return true;
}
