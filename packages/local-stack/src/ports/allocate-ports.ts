import { createServer, type Server } from 'node:net';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { portVariable, readFixedPorts } from './fixed-ports.ts';
import { type KeptPorts, readKeptPorts, writeKeptPorts } from './kept-ports.ts';

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

interface PortOptions {
  environment?: Readonly<Record<string, string | undefined>>;
  /** The home whose ports stay the same from start to start; without it, those of one run. */
  keepIn?: string;
  log?: Progress;
}

interface Block {
  anchor: Server;
  base: number;
  /** In order, without the base. */
  free: number[];
}

/**
 * Free loopback ports for all slots, unless the environment fixes them: those of the home's last start, as far as
 * nothing else has taken them. The block's first port stays bound for the whole run: it keeps other stacks of this
 * machine off the block.
 */
export async function allocatePorts(
  slots: readonly string[],
  { environment = process.env, keepIn, log }: PortOptions = {},
): Promise<PortBlock> {
  const fixed = readFixedPorts(slots, environment);
  for (const [slot, port] of fixed) await requireFree(slot, port);
  const kept = keepIn === undefined ? undefined : readKeptPorts(keepIn);
  const block =
    (kept && (await tryBlock(kept.base, slots.length))) ?? (await takeBlock(slots.length));
  const same = Object.entries(kept?.ports ?? {}).filter(([, port]) => block.free.includes(port));
  const ports = assignPorts(slots, block.free, new Map([...withoutFixed(same, fixed), ...fixed]));
  if (kept && log) reportReplaced({ kept, base: block.base, ports, fixed }, log);
  if (keepIn !== undefined) {
    const own = Object.fromEntries(withoutFixed([...ports], fixed));
    writeKeptPorts(keepIn, { base: block.base, ports: own });
  }
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

/** Of slots that the environment does not fix, at ports that it gives to no other. */
function withoutFixed(
  ports: readonly [string, number][],
  fixed: ReadonlyMap<string, number>,
): [string, number][] {
  const taken = new Set(fixed.values());
  return ports.filter(([slot, port]) => !fixed.has(slot) && !taken.has(port));
}

function reportReplaced(
  chosen: {
    kept: KeptPorts;
    base: number;
    ports: ReadonlyMap<string, number>;
    fixed: ReadonlyMap<string, number>;
  },
  log: Progress,
): void {
  const { kept, base, ports, fixed } = chosen;
  if (base !== kept.base) {
    log.line(
      `the ports of this home (from ${kept.base}) are taken; from now on they begin at ${base}`,
    );
    return;
  }
  for (const [slot, port] of Object.entries(kept.ports)) {
    const now = ports.get(slot);
    if (now === undefined || now === port || fixed.has(slot)) continue;
    log.line(`port ${port} of ${slot} is taken; from now on it is ${now}`);
  }
}

async function requireFree(slot: string, port: number): Promise<void> {
  if (await isFree(port)) return;
  throw new StartupFailure(`port ${port} is busy; it is fixed by ${portVariable(slot)}`);
}

async function takeBlock(count: number): Promise<Block> {
  const blocks = Math.floor((LAST_PORT - FIRST_PORT) / BLOCK_SIZE);
  for (let attempt = 0; attempt < BLOCK_TRIES_MAX; attempt += 1) {
    const base = FIRST_PORT + Math.floor(Math.random() * blocks) * BLOCK_SIZE;
    const block = await tryBlock(base, count);
    if (block) return block;
  }
  throw new StartupFailure(`no ${count} free ports between ${FIRST_PORT} and ${LAST_PORT}`);
}

/** Undefined where another stack has the block, or others have too much of it. */
async function tryBlock(base: number, count: number): Promise<Block | undefined> {
  const anchor = await tryListen(base);
  if (!anchor) return undefined;
  const free = await findFree(base + 1, base + BLOCK_SIZE);
  if (free.length >= count) return { anchor, base, free };
  await anchor[Symbol.asyncDispose]();
  return undefined;
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
