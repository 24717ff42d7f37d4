import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which the kernel gives ports to outgoing connections: between the choice of a port and its use,
 * or between two starts on one port, none of them takes it. Below the ports of a stack, too.
 */
const PORT_MIN = 10_000;
/** Each worker of a run has ports of its own, and takes them in turn: no two processes that boot are given the same. */
const WORKERS_MAX = 5;
const PORTS_OF_WORKER = 1_000;
const TRIES_MAX = 100;

const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS_MAX;
let turn = Math.floor(Math.random() * PORTS_OF_WORKER);

/** Ports that nobody listens on at this moment. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries += 1) {
    if (tries === TRIES_MAX) throw new Error('no free ports were found');
    turn = (turn + 1) % PORTS_OF_WORKER;
    const port = PORT_MIN + worker * PORTS_OF_WORKER + turn;
    if (await isFree(port)) ports.push(port);
  }
  return ports;
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
