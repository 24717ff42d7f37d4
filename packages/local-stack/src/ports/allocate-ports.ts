import { createServer, type Server } from 'node:net';
import { StartupFailure } from '../startup-failure.ts';
import { portVariable, readFixedPorts } from './fixed-ports.ts';

/**
 * Ports come in blocks below the range that systems use for outgoing connections, so that nothing
 * takes a port in the moment between a process's death and its restart.
 */
const FIRST_PORT = 15_000;
const LAST_PORT = 32_000;
export const BLOCK_SIZE = 48;
const BLOCK_TRIES_MAX = 200;
const LOOPBACK = '127.0.0.1';

export interface PortBlock {
  of(slot: string): number;
  release(): Promise<void>;
}

/**
 * Free loopback ports for all slots, unless the environment fixes them. The block's first port stays
 * bound for the whole run: it keeps other stacks of this machine off the block.
 */
export async function allocatePorts(
  slots: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<PortBlock> {
  const fixed = readFixedPorts(slots, environment);
  for (const [slot, port] of fixed) await requireFree(slot, port);
  const block = await takeBlock(slots.length);
  const ports = assignPorts(slots, block.ports, fixed);
  return {
    of(slot) {
      const port = ports.get(slot);
      if (port === undefined) throw new Error(`no port slot named ${slot}`);
      return port;
    },
    release: () => block.anchor[Symbol.asyncDispose](),
  };
}

/** Fixed ports as fixed; the others in order from the free ones, never one that is fixed elsewhere. */
export function assignPorts(
  slots: readonly string[],
  free: readonly number[],
  fixed: ReadonlyMap<string, number>,
): Map<string, number> {
  const taken = new Set(fixed.values());
  const remaining = free.filter((port) => !taken.has(port));
  const assigned = new Map<string, number>();
  for (const slot of slots) {
    const port = fixed.get(slot) ?? remaining.shift();
    if (port === undefined) throw new Error('more port slots than ports in a block');
    assigned.set(slot, port);
  }
  return assigned;
}

async function requireFree(slot: string, port: number): Promise<void> {
  if (await isFree(port)) return;
  throw new StartupFailure(`port ${port} is busy; it is fixed by ${portVariable(slot)}`);
}

async function takeBlock(count: number): Promise<{ anchor: Server; ports: number[] }> {
  const blocks = Math.floor((LAST_PORT - FIRST_PORT) / BLOCK_SIZE);
  for (let attempt = 0; attempt < BLOCK_TRIES_MAX; attempt += 1) {
    const base = FIRST_PORT + Math.floor(Math.random() * blocks) * BLOCK_SIZE;
    const anchor = await tryListen(base);
    if (!anchor) continue;
    const ports = await findFree(base + 1, base + BLOCK_SIZE);
    if (ports.length >= count) return { anchor, ports };
    await anchor[Symbol.asyncDispose]();
  }
  throw new StartupFailure(`no ${count} free ports between ${FIRST_PORT} and ${LAST_PORT}`);
}

async function findFree(from: number, to: number): Promise<number[]> {
  const candidates = Array.from({ length: to - from }, (_, index) => from + index);
  const free = await Promise.all(candidates.map(isFree));
  return candidates.filter((_, index) => free[index]);
}

async function isFree(port: number): Promise<boolean> {
  const server = await tryListen(port);
  await server?.[Symbol.asyncDispose]();
  return server !== undefined;
}

function tryListen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: LOOPBACK, exclusive: true }, () => resolve(server));
  });
}
