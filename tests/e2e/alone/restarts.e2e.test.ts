import { randomUUID } from 'node:crypto';

import { eventually } from '@pixmesh/testkit/eventually';
import { sampled } from '@pixmesh/testkit/long-runs';
import { expect, test } from 'vitest';

import { expectNoBreaks } from '../find-breaks.ts';
import { pidOf } from '../kill-process.ts';
import {
  aMerchant,
  call,
  createChargeStubbornly,
  type Merchant,
  received,
  simulator,
  stack,
  v1,
  waitUntilPaid,
} from '../mesh.ts';

/** With a core to spare it takes less than two seconds (the figures are printed); a busy machine takes its time. */
const SERVES_MS_MAX = 60_000;
const RECOVERY_MS_MAX = 60_000;

type Call = (merchant: Merchant) => Promise<{ status: number }>;

/** One call for each service that it alone can answer. */
const CALLS: Record<string, Call> = {
  gateway: (merchant) => v1(merchant, 'GET /balance'),
  charges: (merchant) => v1(merchant, 'GET /charges?limit=1'),
  payouts: (merchant) => v1(merchant, 'GET /payouts?limit=1'),
  ledger: (merchant) => v1(merchant, 'GET /balance'),
  'webhook-dispatcher': (merchant) => v1(merchant, 'GET /webhooks'),
  'acquirer-simulator': () => call(`${stack().simulator_url}/control/journal?limit=1`),
};

/** The services that a usual run kills, by its seed. */
const KILLED = sampled(Object.entries(CALLS), 2);

/** What is frozen meanwhile. */
const FROZEN = [null, 'registry', 'kafka'] as const;

test.each(sampled(FROZEN, 1).map((frozen) => ({ frozen })))(
  'a killed service serves its calls again soon, with $frozen frozen, and messages flow',
  async ({ frozen }) => {
    const merchant = await aMerchant();
    const charge = await withFrozen(frozen, async () => {
      await killEach(merchant, `${frozen ?? 'nothing'} frozen`);
      const paid = await aCharge(merchant);
      if (frozen !== 'kafka') await expectPaidThrough(merchant, paid);
      return paid;
    });
    await expectPaidThrough(merchant, charge);
    await expectNoBreaks();
  },
  400_000,
);

/** Kills each of them once, and the next only when the one before serves again and is alive. */
async function killEach(merchant: Merchant, title: string): Promise<void> {
  const figures: string[] = [];
  for (const [name, serve] of KILLED) {
    const pid = pidOf(name);
    expect((await serve(merchant)).status).toBe(200);
    const killedMs = performance.now();
    process.kill(pid, 'SIGKILL');
    await eventually(async () => {
      expect(stack().pids[name]).not.toBe(pid);
      expect((await serve(merchant)).status).toBe(200);
    }, SERVES_MS_MAX);
    figures.push(`${name} ${((performance.now() - killedMs) / 1000).toFixed(2)} s`);
    await eventually(async () => {
      expect((await call(`${stack().internal_urls[name]}/livez`)).status).toBe(200);
    });
  }
  console.log(`killed -> serves, ${title}: ${figures.join(', ')}`);
}

async function withFrozen<T>(name: string | null, work: () => Promise<T>): Promise<T> {
  if (name === null) return await work();
  const pid = pidOf(name);
  process.kill(pid, 'SIGSTOP');
  try {
    return await work();
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}

type Charge = { id: string; path: string };

/** A charge that has been paid at the acquirer; the first call to a process that was killed may meet its dead connection. */
async function aCharge(merchant: Merchant): Promise<Charge> {
  const path = `/${randomUUID()}`;
  const webhook_url = `http://a.receiver.example.com${path}`;
  const { id } = await createChargeStubbornly(merchant, { webhook_url });
  await simulator.pay(id);
  return { id, path };
}

/** It is paid here too, and its events were delivered. */
async function expectPaidThrough(merchant: Merchant, { id, path }: Charge): Promise<void> {
  await waitUntilPaid(merchant, id, RECOVERY_MS_MAX);
  await eventually(async () => {
    const bodies = (await received(path)).map(({ body_base64 }) =>
      JSON.parse(Buffer.from(body_base64, 'base64').toString()),
    );
    expect(bodies.map(({ event }) => event)).toContain('charge.pix.paid');
  }, RECOVERY_MS_MAX);
}
