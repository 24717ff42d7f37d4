import type { AccountId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import {
  blockPix,
  holdRefund,
  type PixChange,
  type PixDebits,
  releaseRefund,
  returnPix,
  settleRefund,
  unblockPix,
  untouchedPix,
} from './pix-debits.ts';

const accountId = newId<AccountId>();
const pix = (stands: Partial<PixDebits> = {}): PixDebits => ({
  ...untouchedPix(accountId, 'E1', 100n),
  ...stands,
});
const disputed = (stands: Partial<PixDebits> = {}) =>
  pix({ blocked: 100n, disputeId: 'd1', disputed: 100n, ...stands });

describe('a refund', () => {
  test.each([
    ['on its way', { refunding: 41n }],
    ['done', { refunded: 41n }],
    ['returned', { returned: 41n }],
    ['of each', { refunding: 10n, refunded: 20n, returned: 11n }],
  ])('takes no more than is left, with some %s', (_name, stands) => {
    expect(holdRefund(pix(stands), 60n)).toBeNull();
    expect(holdRefund(pix(stands), 59n)).toMatchObject({ ofBlock: 0n, rest: 59n });
  });

  test('comes out of the block first, and is missed there', () => {
    expect(holdRefund(disputed({ blocked: 40n }), 60n)).toMatchObject({
      ofBlock: 40n,
      rest: 20n,
      pix: { refunding: 60n, blocked: 0n, shortfall: 40n },
    });
  });

  test('that is done is not missed in the block any more', () => {
    const before = disputed({ refunding: 60n, blocked: 40n, shortfall: 60n });
    const after = settleRefund(before, { amount: 60n, fromBlock: 60n });
    expect(after).toMatchObject({ refunding: 0n, refunded: 60n, blocked: 40n, shortfall: 0n });
  });

  test('cannot be done beside returns that leave less', () => {
    const before = pix({ refunding: 60n, returned: 41n });
    expect(settleRefund(before, { amount: 60n, fromBlock: 0n })).toBeNull();
    const equal = pix({ refunding: 60n, returned: 40n });
    expect(settleRefund(equal, { amount: 60n, fromBlock: 0n })).toMatchObject({ refunded: 60n });
  });
});

describe('a refund that failed', () => {
  const details = { amount: 60n, fromBlock: 60n };

  test('goes back to the block it came from while the dispute is open', () => {
    const before = disputed({ refunding: 60n, blocked: 40n, shortfall: 60n });
    expect(releaseRefund(before, details)).toMatchObject({
      ofBlock: 60n,
      rest: 0n,
      pix: { refunding: 0n, blocked: 100n, shortfall: 0n },
    });
  });

  test('goes to the balance once the dispute has ended', () => {
    const before = pix({ refunding: 60n });
    expect(releaseRefund(before, details)).toMatchObject({ ofBlock: 0n, rest: 60n });
  });

  test('fills what the block lacked because of it, and no more', () => {
    const { pix: before } = blockPix(pix({ refunding: 60n }), { disputeId: 'd1', amount: 50n });
    expect(before).toMatchObject({ blocked: 40n, shortfall: 10n });
    expect(releaseRefund(before, { amount: 60n, fromBlock: 0n })).toMatchObject({
      ofBlock: 10n,
      rest: 50n,
      pix: { blocked: 50n, shortfall: 0n },
    });
  });

  test('makes good in the balance what the MED has taken there meanwhile', () => {
    const held = holdRefund(disputed(), 60n);
    const returned = returnPix(held!.pix, { amount: 100n, from: 'blocked', disputeId: 'd1' });
    expect(returned).toMatchObject({ ofBlock: 40n, rest: 60n });
    expect(releaseRefund(returned!.pix, details)).toMatchObject({ ofBlock: 0n, rest: 60n });
  });

  test('leaves nothing blocked that the MED has returned', () => {
    const small = disputed({ blocked: 50n, disputed: 50n });
    const held = holdRefund(small, 30n);
    const returned = returnPix(held!.pix, { amount: 50n, from: 'blocked', disputeId: 'd1' });
    const after = releaseRefund(returned!.pix, { amount: 30n, fromBlock: 30n });
    expect(after).toMatchObject({ ofBlock: 0n, rest: 30n, pix: { blocked: 0n } });
  });
});

describe('a block', () => {
  test.each<[string, Partial<PixDebits>, bigint, bigint]>([
    ['of all of it', {}, 100n, 100n],
    ['of a part', {}, 30n, 30n],
    ['of more than it', {}, 130n, 100n],
    ['beside a refund on its way', { refunding: 60n }, 100n, 40n],
    ['after a refund', { refunded: 60n }, 100n, 40n],
    ['after a return', { returned: 60n }, 100n, 40n],
    ['of what is gone', { refunded: 100n }, 100n, 0n],
    ['of what the MED and a refund both claim', { returned: 70n, refunding: 60n }, 100n, 0n],
    ['beside an older block', { blocked: 70n, disputeId: 'd0', disputed: 70n }, 100n, 30n],
  ])('%s', (_name, stands, amount, moved) => {
    const change = blockPix(pix(stands), { disputeId: 'd1', amount });
    expect(change).toMatchObject({ ofBlock: moved, rest: 0n });
    expect(change.pix).toMatchObject({ disputeId: 'd1', disputed: amount });
  });

  test('is given back as far as it stands, and not beyond what is told', () => {
    const details = { disputeId: 'd1', amount: 100n };
    expect(unblockPix(disputed({ blocked: 30n }), details)).toMatchObject({
      ofBlock: 30n,
      pix: { blocked: 0n, shortfall: 0n, disputeId: null, disputed: 0n },
    });
    expect(unblockPix(disputed(), { ...details, amount: 60n })).toMatchObject({ ofBlock: 60n });
    expect(unblockPix(pix(), details)).toMatchObject({ ofBlock: 0n });
  });

  test('of a newer dispute stays when an older one ends; in the end nothing is left', () => {
    const older = blockPix(pix(), { disputeId: 'd0', amount: 50n }).pix;
    const both = blockPix(older, { disputeId: 'd1', amount: 30n }).pix;
    const afterOlder = unblockPix(both, { disputeId: 'd0', amount: 50n });
    expect(afterOlder).toMatchObject({ ofBlock: 50n, pix: { blocked: 30n, disputeId: 'd1' } });
    const afterBoth = unblockPix(afterOlder.pix, { disputeId: 'd1', amount: 30n });
    expect(afterBoth.pix).toMatchObject({ blocked: 0n, disputeId: null });
    const whole = blockPix(disputed(), { disputeId: 'd2', amount: 100n }).pix;
    expect(unblockPix(whole, { disputeId: 'd1', amount: 100n })).toMatchObject({ ofBlock: 0n });
  });
});

describe('a return', () => {
  test('comes out of the block first, the rest out of the balance', () => {
    const details = { amount: 60n, from: 'blocked', disputeId: 'd1' } as const;
    expect(returnPix(disputed(), details)).toMatchObject({ ofBlock: 60n, rest: 0n });
    expect(returnPix(disputed({ blocked: 20n }), details)).toMatchObject({
      ofBlock: 20n,
      rest: 40n,
    });
    expect(returnPix(pix(), details)).toMatchObject({ ofBlock: 0n, rest: 60n });
  });

  test('out of the balance leaves a block alone, but for what can no longer be blocked', () => {
    const details = { amount: 60n, from: 'available', disputeId: 'd1' } as const;
    const half = disputed({ blocked: 30n, disputed: 30n });
    expect(returnPix(half, details)).toMatchObject({ ofBlock: 0n, rest: 60n });
    expect(returnPix(disputed(), details)).toMatchObject({ ofBlock: 60n, rest: 0n });
    const busy = disputed({ blocked: 60n, refunding: 40n });
    expect(returnPix(busy, details)).toMatchObject({ ofBlock: 60n, rest: 0n });
  });

  test('of a dispute takes from its own block, not from that of a newer one', () => {
    const details = { amount: 40n, from: 'blocked', disputeId: 'd0' } as const;
    const newer = blockPix(pix(), { disputeId: 'd1', amount: 60n }).pix;
    expect(returnPix(newer, details)).toMatchObject({ ofBlock: 0n, rest: 40n });
    const older = blockPix(pix(), { disputeId: 'd0', amount: 30n }).pix;
    const both = blockPix(older, { disputeId: 'd1', amount: 60n }).pix;
    expect(returnPix(both, details)).toMatchObject({
      ofBlock: 30n,
      rest: 10n,
      pix: { blocked: 60n, disputeId: 'd1' },
    });
  });

  test('of another dispute leaves what a refund on its way took out of the block to that block', () => {
    const newer = blockPix(pix(), { disputeId: 'd1', amount: 60n }).pix;
    const held = holdRefund(newer, 40n);
    const details = { amount: 30n, from: 'blocked', disputeId: 'd0' } as const;
    const returned = returnPix(held!.pix, details);
    expect(returned).toMatchObject({ ofBlock: 0n, rest: 30n });
    const after = releaseRefund(returned!.pix, { amount: 40n, fromBlock: 40n });
    expect(after).toMatchObject({ ofBlock: 40n, rest: 0n, pix: { blocked: 60n } });
  });

  test('does not ask refunds on their way, but those that are done', () => {
    const details = { amount: 60n, from: 'blocked', disputeId: 'd1' } as const;
    expect(returnPix(pix({ refunding: 100n }), details)).toMatchObject({ rest: 60n });
    expect(returnPix(pix({ refunded: 40n }), details)).toMatchObject({ rest: 60n });
    expect(returnPix(pix({ refunded: 41n }), details)).toBeNull();
    expect(returnPix(pix({ returned: 41n }), details)).toBeNull();
  });
});

/** What may come to one Pix, in any order; refunds are ended as those that were taken. */
const step = fc.record({
  kind: fc.constantFrom('hold', 'settle', 'release', 'block', 'unblock', 'med', 'other', 'return'),
  amount: fc.bigInt({ min: 1n, max: 120n }),
  at: fc.nat(3),
});
type Step = { kind: string; amount: bigint; at: number };
type Hold = { amount: bigint; fromBlock: bigint };
type Walk = { pix: PixDebits; open: Hold[]; blockedByMoves: bigint };

/** One step as the engine takes it; a refused one changes nothing. */
function take(walk: Walk, { kind, amount, at }: Step): Walk {
  const hold = walk.open[at];
  const rest = walk.open.filter((one) => one !== hold);
  const disputeId = `d${at}`;
  const into = (change: PixChange | null, sign: bigint): Walk =>
    change === null
      ? walk
      : { ...walk, pix: change.pix, blockedByMoves: walk.blockedByMoves + sign * change.ofBlock };
  switch (kind) {
    case 'hold': {
      const change = holdRefund(walk.pix, amount);
      if (change === null) return walk;
      const open = [...walk.open, { amount, fromBlock: change.ofBlock }];
      return { ...into(change, -1n), open };
    }
    case 'settle': {
      const pixAfter = hold ? settleRefund(walk.pix, hold) : null;
      return pixAfter ? { ...walk, pix: pixAfter, open: rest } : walk;
    }
    case 'release':
      return hold ? { ...into(releaseRefund(walk.pix, hold), 1n), open: rest } : walk;
    case 'block':
      return into(blockPix(walk.pix, { disputeId, amount }), 1n);
    case 'unblock':
      return into(unblockPix(walk.pix, { disputeId, amount }), -1n);
    default:
      return into(
        returnPix(walk.pix, {
          amount,
          from: kind === 'return' ? 'available' : 'blocked',
          disputeId: kind === 'other' ? null : disputeId,
        }),
        -1n,
      );
  }
}

function walkAll(steps: readonly Step[], inspect: (walk: Walk) => void = () => undefined): Walk {
  let walk: Walk = { pix: pix(), open: [], blockedByMoves: 0n };
  for (const one of steps) {
    walk = take(walk, one);
    inspect(walk);
  }
  return walk;
}

test('whatever comes, no more goes back than was received, and what is gone is not blocked', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      walkAll(steps, ({ pix: after, open, blockedByMoves }) => {
        const { refunding, refunded, returned, blocked, shortfall, received } = after;
        expect(refunded + returned + blocked).toBeLessThanOrEqual(received);
        expect(refunding).toBe(open.reduce((sum, { amount }) => sum + amount, 0n));
        expect(blocked).toBe(blockedByMoves);
        expect(shortfall >= 0n && shortfall <= received).toBe(true);
        // A block never stands in the way of a refund that was taken before the MED has returned anything.
        if (blocked > 0n) {
          expect(blocked + refunding + refunded + returned).toBeLessThanOrEqual(received);
        }
      });
    }),
    { numRuns: 1_000 },
  );
});

test('the loss of one dispute leaves the block of another as large as what is left of the Pix lets it be', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.bigInt(1n, 100n), (steps, amount) => {
      const { pix: before } = walkAll(steps);
      if (before.disputeId === null) return;
      const change = returnPix(before, { amount, from: 'blocked', disputeId: 'another' });
      if (change === null) return;
      const { received, refunding, refunded, returned, blocked } = change.pix;
      const left = received - refunding - refunded - returned;
      const claims = [before.blocked, before.disputed, left > 0n ? left : 0n];
      expect(claims.some((claim) => blocked >= claim)).toBe(true);
    }),
    { numRuns: 1_000 },
  );
});

test('a refund that was taken and failed leaves the Pix as it was, while nothing else happens', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), fc.bigInt(1n, 100n), (steps, amount) => {
      const { pix: before } = walkAll(steps);
      const held = holdRefund(before, amount);
      if (held === null) return;
      const details = { amount, fromBlock: held.ofBlock };
      const after = releaseRefund(held.pix, details);
      if (before.disputeId !== null && before.shortfall === 0n) {
        expect(after.pix).toEqual(before);
        expect(after).toMatchObject({ ofBlock: held.ofBlock, rest: held.rest });
      }
      expect(after.pix.refunding).toBe(before.refunding);
      expect(after.pix.blocked).toBeGreaterThanOrEqual(
        before.disputeId === null ? before.blocked - held.ofBlock : before.blocked,
      );
    }),
  );
});

test('once all disputes have ended, nothing stays blocked', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let { pix: last } = walkAll(steps);
      for (const disputeId of ['d0', 'd1', 'd2', 'd3']) {
        last = unblockPix(last, { disputeId, amount: 120n }).pix;
      }
      last = unblockPix(last, { disputeId: last.disputeId ?? 'd0', amount: 120n }).pix;
      expect(last).toMatchObject({ blocked: 0n, disputeId: null, shortfall: 0n });
    }),
  );
});
