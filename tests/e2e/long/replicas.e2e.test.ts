import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { eventually } from '@pixmesh/testkit/eventually';
import { testSeed } from '@pixmesh/testkit/test-seed';
import { expect, test } from 'vitest';

import { seededRandom } from '../../fuzz/seeded-random.ts';
import { type Life, liveOne } from '../../lives/live-one.ts';
import { settleLives } from '../../lives/settle-lives.ts';
import { aSubscribedMerchant } from '../../lives/subscribed-merchant.ts';
import { type ClientHistory, createClientHistory } from '../client-history.ts';
import { findBreaks } from '../find-breaks.ts';
import { findViolations } from '../find-violations.ts';
import { killProcess, pidOf } from '../kill-process.ts';
import { admin, type FaultRule, type Merchant, simulator, v1, waitForRestart } from '../mesh.ts';
import { bootOwnStack } from '../own-stack.ts';
import { aPayingMerchant, COST_CENTS, fund } from '../payout-calls.ts';

const SERVICES = ['gateway', 'charges', 'payouts', 'ledger', 'webhook-dispatcher'];
const OUTAGE_MS = 30_000;
const LIVES_AT_ONCE = 3;
const PAYOUT_CLIENTS = 4;
/** The shortest time between two payouts of a client, and two lives: a few calls a second are enough. */
const PACE_MS = 600;
const FUNDED_PAYOUTS = 10_000;
/** So many more have to be accepted after each fault, before the next one comes. */
const GOES_ON = 10;
const BACK_MS_MAX = 120_000;
/** Quiet time after which nothing may rest in between (I16). */
const REST_MS_MAX = 180_000;

bootOwnStack('replicas', {}, ['--scale', SERVICES.map((name) => `${name}=2`).join(',')]);

test('each of two processes frozen for 30 s, the other killed as it thaws, under load and faults: exact, and no break', async () => {
  const seed = testSeed();
  const history = createClientHistory();
  const hookPath = `/${randomUUID()}`;
  const [shop, ...payers] = await Promise.all([
    aSubscribedMerchant(),
    aPayingMerchant(0),
    aPayingMerchant(0),
  ]);
  for (const payer of payers) await fund(payer, FUNDED_PAYOUTS * COST_CENTS);
  const faults = await Promise.all(
    [shop, ...payers].map((merchant, index) => simulator.addFaults(merchant, FAULTS, seed + index)),
  );
  const load = startLoad({ history, payers, hookPath, shop, seed });
  for (const service of SERVICES) {
    const processes = [service, `${service}-2`] as const;
    for (const [frozen, killed] of [processes, processes.toReversed()]) {
      await goesOn(load, `before ${frozen} stands still`);
      const before = load.accepted();
      await freeze(frozen);
      const accepted = load.accepted() - before;
      console.log(`${frozen} frozen for ${OUTAGE_MS / 1_000} s: ${accepted} accepted meanwhile`);
      expect([frozen, accepted > 0]).toEqual([frozen, true]);
      await killProcess(killed);
      // One that is frozen while it starts refuses calls, which costs nobody any time.
      await waitForRestart(killed, undefined);
    }
  }
  await goesOn(load, 'after all faults');
  const lives = await load.stop();
  for (const fault of faults) await fault.remove();
  const unknown = history.calls.filter(({ outcome }) => outcome === 'unknown').length;
  console.log(`${lives.length} lives, ${history.calls.length} calls, ${unknown} unknown`);

  expect(await settleLives(shop, lives, REST_MS_MAX)).toEqual([]);
  await eventually(async () => {
    for (const payer of payers) {
      const open = await v1(payer, 'GET /payouts?status=processing&limit=1');
      expect(open.body.data).toEqual([]);
    }
    expect(await findViolations(history, { hookPath })).toEqual([]);
    expect(await findBreaks()).toEqual([]);
  }, REST_MS_MAX);
  expect((await admin('GET', '/admin/dead-letters')).body.data).toEqual([]);
}, 3_000_000);

/** Whatever the acquirer does to a call, now and then. */
const FAULTS: readonly FaultRule[] = [
  ...[
    'issueCharge',
    'getCharge',
    'cancelCharge',
    'refund',
    'getRefund',
    'sendPayout',
    'getPayout',
  ].flatMap((operation) => [
    { operation, fault: 'error_after', status: 500, probability: 0.03 },
    { operation, fault: 'error_before', status: 503, probability: 0.02 },
    { operation, fault: 'hang', delay_ms: 10_000, probability: 0.01 },
    { operation, fault: 'garbage', probability: 0.02 },
    { operation, fault: 'reset', probability: 0.02 },
  ]),
  { operation: 'sendPayout', fault: 'refusal', code: 'pagamento_negado', probability: 0.03 },
  { operation: 'callback', fault: 'drop', probability: 0.1 },
  { operation: 'callback', fault: 'duplicate', probability: 0.1 },
];

type Load = {
  /** Creations that were answered: payouts and charges. */
  accepted(): number;
  stop(): Promise<Life[]>;
};

/** Merchants who sell, give money back and are disputed, and merchants who pay out, until it is stopped. */
function startLoad(input: {
  history: ClientHistory;
  payers: readonly Merchant[];
  hookPath: string;
  shop: Merchant;
  seed: number;
}): Load {
  const { history, payers, hookPath, shop, seed } = input;
  const stopping = new AbortController();
  const lives: Life[] = [];
  const changes = { webhook_url: `http://a.receiver.example.com${hookPath}` };
  let begun = 0;
  const inTurn = async (work: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      const nextMs = performance.now() + PACE_MS;
      await work();
      await eventually(() => expect(performance.now()).toBeGreaterThan(nextMs));
    }
  };
  const sell = async (): Promise<void> => {
    begun += 1;
    lives.push(await liveOne(shop, seededRandom(seed * 65_537 + begun)));
  };
  const clients = [
    ...Array.from({ length: LIVES_AT_ONCE }, () => inTurn(sell)),
    ...Array.from({ length: PAYOUT_CLIENTS }, (_, index) =>
      inTurn(async () => {
        await history.createPayoutStubbornly(payers[index % payers.length]!, changes);
      }),
    ),
  ];
  const running = Promise.all(clients);
  // A client that gives up is told of at the end; until then the others go on.
  running.catch(() => undefined);
  return {
    accepted: () => lives.length + history.calls.filter(({ outcome }) => outcome === 'ok').length,
    async stop() {
      stopping.abort();
      await running;
      return lives;
    },
  };
}

async function goesOn(load: Load, when: string): Promise<void> {
  const before = load.accepted();
  await eventually(() => {
    expect([when, load.accepted() >= before + GOES_ON]).toEqual([when, true]);
  }, BACK_MS_MAX);
}

async function freeze(name: string): Promise<void> {
  const pid = pidOf(name);
  process.kill(pid, 'SIGSTOP');
  try {
    await delay(OUTAGE_MS);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
}
