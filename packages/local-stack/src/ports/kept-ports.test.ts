import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import type { Progress } from '../progress.ts';
import { allocatePorts } from './allocate-ports.ts';

const SLOTS = ['gateway', 'admin', 'ledger'];

let printed: string[];
const log: Progress = { line: (text) => void printed.push(text), waiting: (_what, work) => work };

beforeEach(() => {
  printed = [];
});

function aHome(): string {
  const home = mkdtempSync(path.join(tmpdir(), 'pixmesh-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  return home;
}

/** One start, which is still running; `stop` ends it. */
async function start(home: string, environment: Record<string, string> = {}) {
  const block = await allocatePorts(SLOTS, { keepIn: home, environment, log });
  let isRunning = true;
  const stop = async (): Promise<void> => {
    if (isRunning) await block.release();
    isRunning = false;
  };
  onTestFinished(stop);
  return { ports: Object.fromEntries(SLOTS.map((slot) => [slot, block.of(slot)])), stop };
}

async function occupy(port: number): Promise<void> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

test('a home keeps its ports from start to start, and says nothing about it', async () => {
  const home = aHome();
  const first = await start(home);
  await first.stop();
  const second = await start(home);
  expect(second.ports).toEqual(first.ports);
  expect(printed).toEqual([]);
});

test('a port that something else has taken is replaced, with a line, and the others stay', async () => {
  const home = aHome();
  const { ports, stop } = await start(home);
  await stop();
  await occupy(ports['admin']!);
  const second = await start(home);
  const { admin, ...others } = second.ports;
  expect(others).toEqual({ gateway: ports['gateway'], ledger: ports['ledger'] });
  expect(Object.values(ports)).not.toContain(admin);
  expect(printed).toEqual([`port ${ports['admin']} of admin is taken; from now on it is ${admin}`]);
  await second.stop();
  expect((await start(home)).ports).toEqual(second.ports);
});

test('two homes that run side by side share no port, also where one had the other’s before', async () => {
  const homes = [aHome(), aHome()];
  const first = await start(homes[0]!);
  const second = await start(homes[1]!);
  const all = [...Object.values(first.ports), ...Object.values(second.ports)];
  expect(new Set(all).size).toBe(2 * SLOTS.length);
  // The same home by another stack: a copy of a folder takes its ports along.
  const third = await start(homes[0]!);
  for (const port of Object.values(third.ports)) expect(all).not.toContain(port);
  expect(printed).toEqual([
    expect.stringMatching(/^the ports of this home .* are taken; from now/),
  ]);
});

test('a port that is fixed for one start changes no other, and is not kept', async () => {
  const home = aHome();
  const { ports, stop } = await start(home);
  // While the first one runs, so that it has other ports.
  const free = await start(aHome());
  await free.stop();
  await stop();
  const fixed = free.ports['gateway']!;
  const second = await start(home, { PIXMESH_GATEWAY_PORT: String(fixed) });
  expect(second.ports).toEqual({ ...ports, gateway: fixed });
  await second.stop();
  const third = await start(home);
  expect(third.ports).toMatchObject({ admin: ports['admin'], ledger: ports['ledger'] });
  expect(third.ports['gateway']).not.toBe(fixed);
  expect(printed).toEqual([]);
});
