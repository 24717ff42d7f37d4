import type { AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import type { DisputeStatus } from '@pixmesh/contracts/http/dispute';
import { describe, expect, test } from 'vitest';

import type { StoredStatus } from '#charge/charge-row.ts';
import { mayMove, TRANSITIONS } from '#charge/transitions.ts';
import { aChargeRow } from '#test/a-charge-row.ts';
import { aDispute, anInfraction } from '#test/a-dispute.ts';

import { decideInfraction, type InfractionStep, type SeenInfraction } from './decide-infraction.ts';

type Known = DisputeStatus | 'none';
type Seen = AcquirerDispute['status'];

const KNOWN: readonly Known[] = ['none', 'open', 'under_review', 'won', 'lost'];
const SEEN: readonly Seen[] = ['open', 'under_review', 'accepted', 'rejected', 'canceled'];
const CHARGES = Object.keys(TRANSITIONS) as StoredStatus[];

function given(
  known: Known,
  seen: Seen,
  charge: StoredStatus,
  changes: Partial<SeenInfraction> = {},
): InfractionStep {
  return decideInfraction({
    stored: known === 'none' ? null : aDispute({ status: known }),
    charge: aChargeRow({ status: charge }),
    seen: anInfraction({ status: seen }),
    isContested: false,
    hasMedReturn: false,
    areReturnsKnown: true,
    areReturnsAwaited: false,
    isReturnWindowOver: false,
    ...changes,
  });
}

/** A step in one line: dispute, charge, events, block. */
function inWords(step: InfractionStep): string {
  if (step.kind !== 'change') return step.kind;
  const events = [step.chargeEvent, step.disputeEvent].filter((event) => event !== null);
  const resolved = step.arrivedResolved ? ' (arrived resolved)' : '';
  return [
    `${step.status}${resolved}`,
    step.chargeStatus,
    events.join(' + ') || '-',
    step.block,
  ].join(', ');
}

describe('a dispute of a charge whose state leaves it open', () => {
  const LOST = 'lost, charged_back, charge.pix.charged_back + dispute.pix.lost';
  const WON = 'won, paid, dispute.pix.won';

  test.each<[Known, Seen, StoredStatus, string]>([
    ['none', 'open', 'paid', 'open, infraction, charge.pix.infraction + dispute.pix.opened, order'],
    [
      'none',
      'under_review',
      'paid',
      'under_review, infraction, charge.pix.infraction + dispute.pix.opened, order',
    ],
    ['none', 'accepted', 'paid', 'wait'],
    ['none', 'rejected', 'paid', 'won (arrived resolved), paid, dispute.pix.won, keep'],
    ['none', 'canceled', 'paid', 'won (arrived resolved), paid, dispute.pix.won, keep'],
    ['open', 'open', 'infraction', 'nothing'],
    ['open', 'under_review', 'infraction', 'under_review, infraction, -, keep'],
    ['open', 'accepted', 'infraction', `${LOST}, keep`],
    ['open', 'rejected', 'infraction', `${WON}, end`],
    ['open', 'canceled', 'infraction', `${WON}, end`],
    ['under_review', 'open', 'infraction', 'nothing'],
    ['under_review', 'under_review', 'infraction', 'nothing'],
    ['under_review', 'accepted', 'infraction', `${LOST}, keep`],
    ['under_review', 'rejected', 'infraction', `${WON}, end`],
    ['under_review', 'canceled', 'infraction', `${WON}, end`],
    ['won', 'open', 'paid', 'ignored'],
    ['won', 'under_review', 'paid', 'ignored'],
    ['won', 'accepted', 'paid', `${LOST}, keep`],
    ['won', 'rejected', 'paid', 'nothing'],
    ['won', 'canceled', 'paid', 'nothing'],
    ['lost', 'open', 'charged_back', 'ignored'],
    ['lost', 'under_review', 'charged_back', 'ignored'],
    ['lost', 'accepted', 'charged_back', 'nothing'],
    ['lost', 'rejected', 'charged_back', 'ignored'],
    ['lost', 'canceled', 'charged_back', 'ignored'],
  ])('%s, seen %s, on a charge %s: %s', (known, seen, charge, expected) => {
    expect(inWords(given(known, seen, charge))).toBe(expected);
  });
});

describe('whatever is known, seen and true of the charge', () => {
  const cells = KNOWN.flatMap((known) =>
    SEEN.flatMap((seen) => CHARGES.map((charge) => [known, seen, charge] as const)),
  );

  test.each(cells)('%s, seen %s, on a charge %s moves both as they may', (known, seen, charge) => {
    for (const isReturnWindowOver of [false, true]) {
      const step = given(known, seen, charge, { isReturnWindowOver });
      if (step.kind !== 'change') continue;
      const row = aChargeRow({ status: charge });
      const moves = step.chargeStatus !== charge;
      expect(moves ? mayMove(row, step.chargeStatus) : true).toBe(true);
      expect(step.chargeEvent === null).toBe(!moves || step.chargeStatus === 'paid');
      const lostIsFinal = known === 'lost' && step.status !== 'lost';
      expect(lostIsFinal).toBe(false);
    }
  });

  test.each(['pending', 'processing'] as const)(
    'a dispute of a charge that is still %s waits for its credit',
    (charge) => {
      for (const seen of SEEN) expect(given('none', seen, charge)).toEqual({ kind: 'wait' });
    },
  );

  test.each(['refunded', 'charged_back'] as const)(
    'a charge that is %s stays so, and its dispute is announced',
    (charge) => {
      expect(inWords(given('none', 'open', charge))).toBe(
        `open, ${charge}, dispute.pix.opened, order`,
      );
      expect(inWords(given('none', 'accepted', charge))).toBe(
        `lost (arrived resolved), ${charge}, dispute.pix.lost, keep`,
      );
      expect(inWords(given('under_review', 'accepted', charge))).toBe(
        `lost, ${charge}, dispute.pix.lost, keep`,
      );
    },
  );
});

test('a second dispute waits until the first one of its Pix is decided', () => {
  expect(given('none', 'open', 'infraction', { isContested: true })).toEqual({ kind: 'wait' });
});

test('a dispute that arrived lost, and whose money never shows, is lost all the same in the end', () => {
  const step = given('none', 'accepted', 'paid', { isReturnWindowOver: true });
  expect(inWords(step)).toBe(
    'lost (arrived resolved), charged_back, charge.pix.charged_back + dispute.pix.lost, keep',
  );
});

test.each([
  { hasMedReturn: true, isReturnWindowOver: false },
  { hasMedReturn: false, isReturnWindowOver: true },
])('the block of a lost dispute ends once money has returned or had its time: %o', (changes) => {
  expect(given('open', 'accepted', 'infraction', changes)).toMatchObject({ block: 'end' });
  expect(given('won', 'accepted', 'paid', changes)).toMatchObject({ block: 'keep' });
});

test('no block of a lost dispute ends, and no charge is charged back by it, while its returns are unknown', () => {
  const unknown = { areReturnsKnown: false, isReturnWindowOver: true };
  for (const hasMedReturn of [false, true]) {
    const step = given('open', 'accepted', 'infraction', { ...unknown, hasMedReturn });
    expect(step).toMatchObject({ status: 'lost', block: 'keep' });
  }
  expect(given('none', 'accepted', 'paid', unknown)).toEqual({ kind: 'wait' });
});

test('a dispute is lost once it is known what has returned, or the time to wait for that is over', () => {
  for (const [known, charge] of [
    ['open', 'infraction'],
    ['under_review', 'infraction'],
    ['won', 'paid'],
    // By an earlier dispute of the same Pix.
    ['none', 'charged_back'],
  ] as const) {
    const unknown = { areReturnsKnown: false, areReturnsAwaited: true };
    expect(given(known, 'accepted', charge, unknown)).toEqual({ kind: 'wait' });
    expect(given(known, 'accepted', charge)).toMatchObject({ status: 'lost' });
  }
});

test('an open dispute whose deadline has passed is under review', () => {
  const stored = aDispute({ status: 'open', readAt: new Date('2026-11-23T12:00:00.000Z') });
  expect(given('open', 'open', 'infraction', { stored })).toMatchObject({ status: 'under_review' });
});
