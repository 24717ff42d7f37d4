import { armFailpoints } from '@pixmesh/service/failpoints';
import { newId } from '@pixmesh/kernel/ids';
import { scaled } from '@pixmesh/testkit/long-runs';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { aCreator } from '#test/payouts-environment.ts';
import { type PayoutsUnderTest, startPayoutsUnderTest } from '#test/payouts-under-test.ts';

let payouts: PayoutsUnderTest;

beforeAll(async () => {
  payouts = await startPayoutsUnderTest();
});
afterAll(async () => {
  armFailpoints({});
  await payouts[Symbol.asyncDispose]();
});

const ROUTE = 'POST /v1/payouts';
const TAKE = ['PUT', /^\/internal\/holds\/[^/]+$/] as const;
const VOID = ['POST', /\/void$/] as const;
const body = { amount: 1_000, pix_key_type: 'email', pix_key: 'ana@example.com' };

const RACE_SEEDS = scaled(8, 1_000);
const CROWD_SEEDS = scaled(1, 1_000);
const LONG_MS = scaled(240_000, 3_600_000);

const failpoints = fc.constantFrom(
  'payouts.create.before-insert',
  'payouts.create.after-intent',
  'payouts.create.after-hold',
  'payouts.create.after-commit',
);
const networks = fc.constantFrom<'lost' | 'answer_lost'>('lost', 'answer_lost');

/** One thing that happens while others do; those of one round happen at once. */
const act = fc.oneof(
  { weight: 4, arbitrary: fc.constant({ kind: 'call' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'job' as const }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('die' as const), at: failpoints }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('take' as const), trouble: networks }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('void' as const), trouble: networks }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'fund' as const }) },
);
const story = fc.array(fc.array(act, { minLength: 1, maxLength: 5 }), {
  minLength: 1,
  maxLength: 4,
});

test(
  'whatever dies or gets lost around an intent: one payout with one open hold, or nothing; no stuck money',
  { timeout: LONG_MS },
  async () => {
    await fc.assert(
      fc.asyncProperty(story, fc.constantFrom(0, 1_000, 5_000), async (rounds, cents) => {
        const caller = await payouts.fundedCreator(cents);
        let funded = cents;
        const answers: Awaited<ReturnType<typeof payouts.request>>[] = [];
        for (const round of rounds) {
          await Promise.all(round.map((step) => play(step)));
        }
        armFailpoints({});
        await settleAll();
        await expectAtRest(caller, funded, answers);

        async function play(step: (typeof rounds)[number][number]): Promise<void> {
          if (step.kind === 'die') armFailpoints({ [step.at]: 'error' });
          else if (step.kind === 'take') payouts.network.trouble(...TAKE, step.trouble);
          else if (step.kind === 'void') payouts.network.trouble(...VOID, step.trouble);
          else if (step.kind === 'job') await payouts.settle(caller.creation_id).catch(() => null);
          else if (step.kind === 'call') answers.push(await payouts.request(caller, ROUTE, body));
          else {
            funded += 1_000;
            await payouts.ledger.fund(caller.account_id, 1_000);
          }
        }

        /** Troubles that were planned and not met yet may still meet the job; it checks again, as in life. */
        async function settleAll(): Promise<void> {
          for (let checks = 0; checks < 20; checks += 1) {
            if ((await payouts.row(caller.creation_id))?.status !== 'intent') return;
            await payouts.settle(caller.creation_id);
          }
        }
      }),
      { numRuns: RACE_SEEDS },
    );
  },
);

async function expectAtRest(
  caller: ReturnType<typeof aCreator>,
  funded: number,
  answers: Awaited<ReturnType<typeof payouts.request>>[],
): Promise<void> {
  payouts.network.calm();
  const row = await payouts.row(caller.creation_id);
  const holds = await payouts.ledger.holdsOf(caller.creation_id);
  const open = holds.filter(({ state }) => state === 'open');
  expect(open.map(({ hold_id }) => hold_id)).toEqual(row === null ? [] : [row.holdId]);
  expect(await payouts.ledger.available(caller.account_id)).toBe(funded - 1_000 * open.length);
  expect(await payouts.eventsOf(caller.creation_id)).toHaveLength(row === null ? 0 : 1);
  if (row !== null) expect(row.status).toBe('processing');
  const accepted = answers.filter(({ status }) => status === 201);
  if (accepted.length > 0) expect(row?.id).toBe(caller.creation_id);
  const firsts = accepted.filter(({ headers }) => !headers.has('idempotent-replayed'));
  expect(firsts.length).toBeLessThanOrEqual(1);
  for (const { status, body: refusal } of answers) {
    expect(['201 undefined', '400 INSUFFICIENT_BALANCE', '500 INTERNAL_ERROR']).toContain(
      `${status} ${refusal.code}`,
    );
  }
}

test(
  'a hundred payouts at once on money for exactly k: k answers 201, and each refused key succeeds after funding',
  { timeout: LONG_MS },
  async () => {
    const order = fc.record({ k: fc.nat(100), fee: fc.constantFrom(0, 1, 99), rest: fc.nat(998) });
    await fc.assert(
      fc.asyncProperty(order, async ({ k, fee, rest }) => {
        const price = body.amount + fee;
        const shortOfOne = Math.min(rest, price - 1);
        const account = await payouts.fundedCreator(k * price + shortOfOne, {
          settings: { payout_fee: fee },
        });
        const callers = Array.from({ length: 100 }, () => ({ ...account, creation_id: newId() }));
        const answers = await Promise.all(
          callers.map((caller) => payouts.request(caller, ROUTE, body)),
        );
        const refused = callers.filter((_, index) => answers[index]?.status !== 201);
        expect(answers.filter(({ status }) => status === 201)).toHaveLength(k);
        expect(
          answers.filter(({ body: refusal }) => refusal.code === 'INSUFFICIENT_BALANCE'),
        ).toHaveLength(100 - k);
        expect(await payouts.ledger.available(account.account_id)).toBe(shortOfOne);
        await payouts.ledger.fund(account.account_id, refused.length * price);
        const again = await Promise.all(
          refused.map((caller) => payouts.request(caller, ROUTE, body)),
        );
        expect(again.filter(({ status }) => status !== 201)).toEqual([]);
        expect(await payouts.ledger.available(account.account_id)).toBe(shortOfOne);
      }),
      { numRuns: CROWD_SEEDS },
    );
  },
);
