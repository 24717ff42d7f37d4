import { parseArgs } from 'node:util';

import { type Aim, atMost, printAims } from '../aims.ts';
import { describeMachine } from '../durable-server.ts';
import type { LifeDeps } from '../lives/life-kinds.ts';
import { aCharge } from '../lives/mesh-calls.ts';
import { withMesh } from '../lives/with-mesh.ts';
import { residentMemoryMb, servicesOf } from '../resident-memory.ts';
import type { Stack } from '../with-stack.ts';

const REQUESTS = '1000000';
const CLIENTS = 32;
/** Of these, for each charge that is paid and each payout that is sent. */
const READS = 18;
const REQUESTS_PER_TURN = READS + 3;
const SAMPLES = 10;
const MEMORY_MB_MAX = 200;
/** What a process has at the end, as a multiple of what it had at half of the requests. */
const GROWTH_MAX = 1.05;

type Sample = { requests: number; memoryMb: Map<string, number> };

/** Whether the memory of a service grows with what it has done: lives of charges and payouts, and many reads. */
export async function benchMemory(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { requests: { type: 'string', default: REQUESTS } },
  });
  console.log(describeMachine());
  await withMesh(null, { statements: false }, async (stack, deps) => {
    printAims(
      aimsOf(servicesOf(stack), await sampleWhileBusy(stack, deps, Number(values.requests))),
    );
  });
}

async function sampleWhileBusy(stack: Stack, deps: LifeDeps, requests: number): Promise<Sample[]> {
  const samples: Sample[] = [];
  let done = 0;
  const note = () => {
    const sample = { requests: done, memoryMb: residentMemoryMb(stack) };
    const figures = servicesOf(stack).map(
      (name) => `${name} ${(sample.memoryMb.get(name) ?? Number.NaN).toFixed(0)}`,
    );
    console.log(`${String(done).padStart(9)} requests, MB: ${figures.join(', ')}`);
    samples.push(sample);
  };
  note();
  const work = async (): Promise<void> => {
    while (done < requests) {
      await playTurn(deps);
      done += REQUESTS_PER_TURN;
      if (done >= (samples.length * requests) / SAMPLES) note();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, work));
  return samples;
}

/** A charge is created and paid, a payout is sent, and both are read, as the lists and the balance are. */
async function playTurn(deps: LifeDeps): Promise<void> {
  const { mesh, shop, payer } = deps;
  const id = await mesh.createCharge(shop, aCharge());
  await mesh.pay(id);
  const paid = mesh.arrival('charge.pix.paid', id);
  await mesh.createPayout(payer);
  for (let read = 0; read < READS; read += 3) {
    await mesh.read(shop, `/v1/charges/${id}`);
    await mesh.read(shop, '/v1/charges?limit=10');
    await mesh.read(payer, '/v1/balance');
  }
  await paid;
}

function aimsOf(services: readonly string[], samples: readonly Sample[]): Aim[] {
  const half = samples[Math.floor(samples.length / 2)];
  const end = samples.at(-1);
  return services.flatMap((name) => {
    const most = Math.max(...samples.map(({ memoryMb }) => memoryMb.get(name) ?? Number.NaN));
    const growth =
      (end?.memoryMb.get(name) ?? Number.NaN) / (half?.memoryMb.get(name) ?? Number.NaN);
    return [
      atMost(`${name}: the most MB`, most, MEMORY_MB_MAX),
      atMost(`${name}: memory at the end, to that at half`, growth, GROWTH_MAX),
    ];
  });
}
