import type { AccountId, HoldId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { ACCOUNT_KINDS } from '#accounts/chart-of-accounts.ts';
import type { LedgerCommand } from '#commands/ledger-command.ts';
import { NOW, stateAfter, stateFor } from '#test/batch-states.ts';
import {
  disputeBlock,
  receivedPixCredit,
  suspenseCredit,
  disputeReturn,
  payoutReturnCredit,
  payoutSuspend,
  receivedPixReturn,
  holdRelease,
  pendingRelease,
  suspenseResolve,
  holdSettle,
  receivedPixSuspend,
  holdTake,
  acquirerTariffBook,
  disputeUnblock,
  holdVoid,
} from '#test/ledger-commands.ts';

import type { BatchState, BatchWrites } from './batch-state.ts';
import { decideBatch } from './decide-batch.ts';

const ACCOUNTS = Array.from({ length: 3 }, () => newId<AccountId>());
const RESOURCES = Array.from({ length: 4 }, () => newId());
const HOLDS = Array.from({ length: 8 }, () => newId<HoldId>());

/** Few owners, holds and resources, hence many meetings; every hold belongs to one owner and one resource. */
const holdRef = fc.nat(HOLDS.length - 1).map((at) => ({
  accountId: ACCOUNTS[at % ACCOUNTS.length]!,
  holdId: HOLDS[at]!,
  resourceId: RESOURCES[at % RESOURCES.length]!,
}));
const owner = fc.constantFrom(...ACCOUNTS);
const amount = fc.integer({ min: 1, max: 500 });
const money = fc.record({ accountId: owner, amount });
/** One Pix of each owner, so that refunds, disputes and returns meet on it; its credit may come late. */
const PIX = ACCOUNTS.map((accountId, at) => ({ accountId, endToEndId: `E-pix-${at}` }));
const DISPUTES = Array.from({ length: 2 }, () => newId());
const ofPix = fc.record({
  at: fc.nat(PIX.length - 1),
  amount,
  dispute: fc.nat(DISPUTES.length - 1),
  isOthers: fc.nat(20).map((draw) => draw === 0),
});
const pixDetails = ofPix.map(({ at, amount: cents, dispute, isOthers }) => ({
  accountId: PIX[at]!.accountId,
  endToEndId: PIX[isOthers ? (at + 1) % PIX.length : at]!.endToEndId,
  disputeId: DISPUTES[dispute]!,
  amount: cents,
}));
const REFUND_HOLDS = Array.from({ length: 12 }, () => newId<HoldId>());
const refundRef = fc.nat(REFUND_HOLDS.length - 1).map((at) => ({
  ...PIX[at % PIX.length]!,
  holdId: REFUND_HOLDS[at]!,
  resourceId: REFUND_HOLDS[at]!,
}));
const ITEMS = ACCOUNTS.map((accountId, at) =>
  receivedPixSuspend({ accountId, endToEndId: `E-item-${at}`, amount: 40 }),
);

const command: fc.Arbitrary<LedgerCommand> = fc.oneof(
  { weight: 4, arbitrary: money.map((details) => receivedPixCredit(details)) },
  fc
    .record({ accountId: owner, amount, releaseAt: fc.constant(new Date(NOW.getTime() + 1)) })
    .map(receivedPixCredit),
  money.map((details) => pendingRelease(receivedPixCredit(details))),
  {
    weight: 4,
    arbitrary: fc
      .tuple(holdRef, amount)
      .map(([ref, sum]) => holdTake({ ...ref, amount: sum, fee: sum % 7 })),
  },
  holdRef.map(holdVoid),
  { weight: 2, arbitrary: holdRef.map(holdSettle) },
  { weight: 2, arbitrary: holdRef.map(holdRelease) },
  money.map((details) => receivedPixSuspend(details)),
  money.map((details) => payoutReturnCredit(details)),
  money.map((details) => payoutSuspend(details)),
  money.map((details) => acquirerTariffBook(details)),
  {
    weight: 3,
    arbitrary: fc.constantFrom(...PIX).map((pix) => receivedPixCredit({ ...pix, amount: 500 })),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(refundRef, amount)
      .map(([ref, sum]) => holdTake({ ...ref, amount: sum, fee: 0 })),
  },
  { weight: 2, arbitrary: refundRef.map(holdSettle) },
  { weight: 2, arbitrary: refundRef.map(holdRelease) },
  { weight: 2, arbitrary: pixDetails.map((details) => disputeBlock(details)) },
  { weight: 2, arbitrary: pixDetails.map((details) => disputeUnblock(details)) },
  {
    weight: 2,
    arbitrary: pixDetails.map((details) =>
      disputeReturn({ ...details, from: details.amount % 3 === 0 ? 'available' : 'blocked' }),
    ),
  },
  pixDetails.map((details) => receivedPixReturn(details)),
  fc.constantFrom(...ITEMS),
  fc
    .tuple(fc.constantFrom(...ITEMS), fc.constantFrom('accept', 'hand_over', 'return' as const))
    .map(([item, action]) => ({ ...suspenseResolve(item, { action }), commandId: newId() })),
  fc.constantFrom(...ITEMS).map((item) => suspenseCredit(item, ACCOUNTS[0]!)),
);

/** A run of commands with repeats, cut into batches. */
const run = fc
  .tuple(fc.array(command, { minLength: 1, maxLength: 60 }), fc.infiniteStream(fc.nat(5)))
  .map(([commands, dice]) => {
    const details = commands.flatMap((one) => (dice.next().value === 0 ? [one, one] : [one]));
    const batches: LedgerCommand[][] = [[]];
    for (const one of details) {
      if (dice.next().value === 0) batches.push([]);
      batches.at(-1)!.push(one);
    }
    return batches.filter((batch) => batch.length > 0);
  });

function start(batches: readonly LedgerCommand[][]): BatchState {
  return stateFor([
    ...batches.flat(),
    ...ACCOUNTS.map((accountId) => receivedPixCredit({ accountId })),
  ]);
}

/** Decides batch after batch, and shows each. */
function decideAll(
  batches: readonly LedgerCommand[][],
  inspect: (before: BatchState, writes: BatchWrites, after: BatchState) => void = () => undefined,
) {
  let state = start(batches);
  const outcomes = batches.flatMap((batch) => {
    const decision = decideBatch(state, batch);
    const after = stateAfter(state, decision);
    inspect(state, decision.writes, after);
    state = after;
    return decision.outcomes;
  });
  return { outcomes, state };
}

test('how commands are cut into batches decides nothing', () => {
  fc.assert(
    fc.property(run, (batches) => {
      const alone = decideAll(batches.flat().map((one) => [one]));
      const together = decideAll([batches.flat()]);
      const cut = decideAll(batches);
      expect(cut.outcomes.map(plain)).toEqual(alone.outcomes.map(plain));
      expect(together.outcomes.map(plain)).toEqual(alone.outcomes.map(plain));
      expect(cut.state.accounts).toEqual(alone.state.accounts);
      expect(together.state.accounts).toEqual(alone.state.accounts);
    }),
  );
});

test('every journal nets to zero and every entry says what stood after it', () => {
  fc.assert(
    fc.property(run, (batches) => {
      decideAll(batches, (before, { entries, journals }) => {
        const sums = new Map<string, bigint>();
        const running = new Map<string, bigint>();
        for (const { accountId, version, kind, amount: cents, balanceAfter } of entries) {
          const journal = `${accountId} ${version}`;
          sums.set(journal, (sums.get(journal) ?? 0n) + cents);
          const part = `${accountId} ${kind}`;
          const stood = running.get(part) ?? before.accounts.get(accountId)!.balances[kind];
          expect(balanceAfter).toBe(stood + cents);
          running.set(part, balanceAfter);
        }
        expect([...sums.values()].every((sum) => sum === 0n)).toBe(true);
        expect(sums.size).toBe(journals.filter(({ code }) => code === 'booked').length);
      });
    }),
  );
});

test('available falls below zero only as far as was forced; nothing else ever owes', () => {
  fc.assert(
    fc.property(run, (batches) => {
      decideAll(batches, (_before, writes) => {
        for (const { balances, forcedDebit } of writes.accounts.values()) {
          expect(balances.available + forcedDebit).toBeGreaterThanOrEqual(0n);
          for (const kind of ['pending', 'held', 'blocked'] as const) {
            expect(balances[kind]).toBeGreaterThanOrEqual(0n);
          }
        }
      });
    }),
  );
});

test('what is held is the sum of the open holds, and no resource has two', () => {
  fc.assert(
    fc.property(run, (batches) => {
      decideAll(batches, (_before, _writes, after) => {
        for (const [accountId, { balances }] of after.accounts) {
          const open = [...after.holds.values()].filter(
            (hold) => hold.accountId === accountId && hold.state === 'open',
          );
          expect(balances.held).toBe(open.reduce((sum, hold) => sum + hold.amount + hold.fee, 0n));
        }
        const standing = [...after.holds.values()].filter(
          ({ state }) => state === 'open' || state === 'settled',
        );
        expect(new Set(standing.map(({ resourceId }) => resourceId)).size).toBe(standing.length);
      });
    }),
  );
});

test('what is blocked is the sum over the Pix, and no Pix gives back more than it was', () => {
  fc.assert(
    fc.property(run, (batches) => {
      decideAll(batches, (_before, _writes, after) => {
        for (const [accountId, { balances }] of after.accounts) {
          const pix = [...after.pix.values()].filter((one) => one.accountId === accountId);
          expect(balances.blocked).toBe(pix.reduce((sum, { blocked }) => sum + blocked, 0n));
        }
        for (const { received, refunded, returned, blocked, ...pix } of after.pix.values()) {
          expect(refunded + returned + blocked).toBeLessThanOrEqual(received);
          const refunds = [...after.holds.values()].filter(
            ({ refund, accountId }) =>
              refund?.endToEndId === pix.endToEndId && accountId === pix.accountId,
          );
          const sumOf = (state: string): bigint =>
            refunds.reduce((sum, hold) => sum + (hold.state === state ? hold.amount : 0n), 0n);
          expect([pix.refunding, refunded]).toEqual([sumOf('open'), sumOf('settled')]);
        }
      });
    }),
    { numRuns: 300 },
  );
});

test('what is in suspense is the sum of its open items', () => {
  fc.assert(
    fc.property(run, (batches) => {
      decideAll(batches, (_before, _writes, after) => {
        for (const [accountId, { balances }] of after.accounts) {
          const open = [...after.suspenseItems.values()].filter(
            (item) => item.accountId === accountId && !item.isResolved,
          );
          expect(balances.suspense).toBe(open.reduce((sum, { amount: cents }) => sum + cents, 0n));
        }
      });
    }),
  );
});

test('a hold never leaves a final state', () => {
  fc.assert(
    fc.property(run, (batches) => {
      decideAll(batches, (before, writes) => {
        for (const [holdId, hold] of writes.holds) {
          const was = before.holds.get(holdId);
          if (was)
            expect([was.state, hold.state]).toBeOneOf([
              ['open', 'settled'],
              ['open', 'released'],
            ]);
        }
      });
    }),
  );
});

test('journals are numbered without gaps, and a second telling of the whole run writes nothing', () => {
  fc.assert(
    fc.property(run, (batches) => {
      const next = new Map(ACCOUNTS.map((accountId) => [accountId, 1n]));
      const { outcomes, state } = decideAll(batches, (_before, { journals }) => {
        for (const { command: one, version } of journals) {
          if (version === null) continue;
          expect(version).toBe(next.get(one.accountId));
          next.set(one.accountId, version + 1n);
        }
      });
      const decided = batches.flat().filter((_, at) => outcomes[at]?.kind === 'decided');
      const again = decideBatch(state, decided);
      expect(again.outcomes.every((one) => one.kind === 'decided' && one.repeated)).toBe(true);
      expect([again.writes.journals, again.writes.entries, again.writes.events]).toEqual([
        [],
        [],
        [],
      ]);
    }),
  );
});

test('the whole ledger nets to zero, whatever came', () => {
  fc.assert(
    fc.property(run, (batches) => {
      const { state } = decideAll(batches);
      let sum = 0n;
      for (const { balances } of state.accounts.values()) {
        for (const kind of ACCOUNT_KINDS) sum += balances[kind];
      }
      expect(sum).toBe(0n);
    }),
  );
});

/** An outcome without what the cut may change: nothing but the moment at which a hold is shown. */
function plain(outcome: ReturnType<typeof decideBatch>['outcomes'][number]): object {
  return { ...outcome };
}
