import type { PixReturn, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { mayMove } from '#charge/transitions.ts';
import { returnKey } from '#returns/return-key.ts';
import { aChargeRow } from '#test/a-charge-row.ts';
import { aPixReturn, aReceivedPix } from '#test/a-received-pix.ts';
import { describeCheck } from '#test/describe-check.ts';

import { decideCheck, type ProviderState, type Recorded } from './decide-check.ts';

const OWN = 'E-own';
const [FULL, PART] = [toCents(12_345), toCents(345)];
const paid = { acceptedE2e: OWN, endToEndId: OWN } as const;
const credited = [[OWN, 'credit']] as const;

const stray = (changes: Partial<ReceivedPix> = {}) =>
  aReceivedPix({
    endToEndId: 'E-stray',
    paidAt: new Date('2026-11-21T12:31:00.000Z'),
    ...changes,
  });

describe('one check that shows several events', () => {
  const pending = aChargeRow();
  const none: Recorded = {
    received: new Map(),
    returns: new Map(),
    refunds: new Set(),
    endedRefunds: new Set(),
    disputed: new Set(),
    won: new Set(),
  };
  const settled = (received: ReceivedPix[]): ProviderState => ({
    txid: 't',
    status: 'settled',
    received,
  });

  test('credits the first Pix by its time and suspends the second, in whatever order they are listed', () => {
    const first = aReceivedPix({ endToEndId: OWN });
    const plan = decideCheck(pending, settled([stray(), first]), none);
    expect(plan.steps).toMatchObject([
      { kind: 'record_pix', pix: { endToEndId: OWN }, disposition: { kind: 'credit' } },
      { kind: 'record_pix', pix: { endToEndId: 'E-stray' }, disposition: { reason: 'second_pix' } },
    ]);
  });

  test('a wrong amount before the right one does not keep the charge from being paid', () => {
    const wrong = stray({ amountCents: PART, paidAt: new Date('2026-11-21T12:01:00.000Z') });
    const plan = decideCheck(pending, settled([wrong, aReceivedPix()]), none);
    expect(describeCheck(plan)).toBe('suspend amount_mismatch; credit; rest');
  });

  test('a Pix behind our end and before that of the charge at the acquirer is in time', () => {
    const charge = aChargeRow({ latePaymentPolicy: 'suspense' });
    const state = settled([aReceivedPix({ paidAt: new Date('2026-11-21T13:00:05.000Z') })]);
    const times = { createdAt: new Date('2026-11-21T12:00:09.000Z'), expiresInSeconds: 3_600 };
    expect(describeCheck(decideCheck(charge, state, none))).toBe('suspend late; unpaid');
    expect(describeCheck(decideCheck(charge, { ...state, ...times }, none))).toBe('credit; rest');
  });

  test('a return that is seen together with its payment waits for the credit', () => {
    const plan = decideCheck(pending, settled([aReceivedPix({ returns: [aPixReturn()] })]), none);
    expect(describeCheck(plan)).toBe('credit; soon');
  });

  test('the money comes before a removal: a charge with its Pix is paid, not failed', () => {
    const state = { ...settled([aReceivedPix()]), status: 'removed_by_psp' } as const;
    expect(describeCheck(decideCheck(pending, state, none))).toBe(
      'credit; ignore removed_by_psp; rest',
    );
  });

  test('the removal of a charge that has ended comes last: while it does not succeed, returns are booked all the same', () => {
    const failed = aChargeRow({ status: 'failed', failureReason: 'x' });
    const received = [stray({ returns: [aPixReturn()] })];
    const recorded = { ...none, received: new Map([['E-stray', 'suspense' as const]]) };
    const plan = decideCheck(failed, { ...settled(received), status: 'active' }, recorded);
    expect(describeCheck(plan)).toBe('end item; remove; rest');
  });

  test('what went back explains a charge before its removal does', () => {
    const charge = aChargeRow({ status: 'paid', ...paid });
    const received = [aReceivedPix({ endToEndId: OWN, returns: [aPixReturn()] })];
    const recorded = { ...none, received: new Map(credited) };
    const plan = decideCheck(charge, { ...settled(received), status: 'removed_by_psp' }, recorded);
    expect(describeCheck(plan)).toBe(
      'book returned → refunded, 12345; ignore removed_by_psp; rest',
    );
  });

  test('returns of a paid charge add up, and the one that completes the sum refunds it', () => {
    const charge = aChargeRow({ status: 'paid', ...paid });
    const returns = [
      aPixReturn({ id: 'a', amountCents: PART }),
      aPixReturn({ id: 'b', amountCents: toCents(FULL - PART) }),
    ];
    const state = settled([aReceivedPix({ endToEndId: OWN, returns })]);
    const recorded = { ...none, received: new Map(credited) };
    expect(describeCheck(decideCheck(charge, state, recorded))).toBe(
      'book returned → paid, 345; book returned → refunded, 12345; rest',
    );
  });

  test('a return under the MED after a part was refunded charges the rest back', () => {
    const charge = aChargeRow({ status: 'paid', ...paid, refundedAmount: PART });
    const med = aPixReturn({
      id: 'm',
      nature: 'MED_OPERACIONAL',
      amountCents: toCents(FULL - PART),
    });
    const state = settled([
      aReceivedPix({ endToEndId: OWN, returns: [aPixReturn({ id: 'a', amountCents: PART }), med] }),
    ]);
    const recorded = {
      ...none,
      received: new Map(credited),
      returns: new Map([[returnKey(OWN, 'a'), PART]]),
    };
    expect(describeCheck(decideCheck(charge, state, recorded))).toBe(
      'book med → charged_back, 345; rest',
    );
  });

  describe('a return without a nature, of a Pix with a dispute,', () => {
    const settledAt = new Date('2026-11-21T12:40:00.000Z');
    const checkAt = (
      at: string,
      changes: Partial<PixReturn>,
      { refunds = [], won = [] }: { refunds?: string[]; won?: string[] } = {},
    ) => {
      const readAt = new Date(`2026-11-21T${at}.000Z`);
      const charge = aChargeRow({ status: 'infraction', ...paid, readAt });
      const returns = [aPixReturn({ nature: null, settledAt, ...changes })];
      const state = settled([aReceivedPix({ endToEndId: OWN, returns })]);
      const recorded = {
        ...none,
        received: new Map(credited),
        disputed: new Set([OWN]),
        won: new Set(won),
        refunds: new Set(refunds),
      };
      return describeCheck(decideCheck(charge, state, recorded));
    };
    const MED = 'book med → charged_back, 0; rest';

    test('waits for its nature, which decides', () => {
      expect(checkAt('12:40:00', {})).toBe('soon');
      expect(checkAt('12:49:59', {})).toBe('soon');
      expect(checkAt('12:39:01', {})).toBe('soon');
      expect(checkAt('12:40:00', { nature: 'MED_FRAUDE' })).toBe(MED);
      expect(checkAt('12:40:00', { nature: 'ORIGINAL' })).toBe(
        'book returned → refunded, 12345; rest',
      );
    });

    test('is one under the MED after ten minutes, and at once where its time is not known or far ahead', () => {
      expect(checkAt('12:50:00', {})).toBe(MED);
      expect(checkAt('12:39:00', {})).toBe(MED);
      expect(checkAt('12:40:00', { settledAt: null })).toBe(MED);
    });

    test('waits after a won dispute too, and is a plain one after ten minutes', () => {
      const won = [OWN];
      expect(checkAt('12:40:00', {}, { won })).toBe('soon');
      expect(checkAt('12:40:00', { nature: 'MED_FRAUDE' }, { won })).toBe(MED);
      expect(checkAt('12:50:00', {}, { won })).toBe('book returned → refunded, 12345; rest');
    });

    test('ends the refund at once where it is ours', () => {
      expect(checkAt('12:40:00', {}, { refunds: ['return1'] })).toBe('end refund; at_once');
    });
  });

  test('a refund that a check has ended is not ended again', () => {
    const charge = aChargeRow({ status: 'paid', ...paid });
    const state = settled([
      aReceivedPix({ endToEndId: OWN, returns: [aPixReturn({ status: 'failed' })] }),
    ]);
    const recorded = { ...none, received: new Map(credited), refunds: new Set(['return1']) };
    expect(describeCheck(decideCheck(charge, state, recorded))).toBe('end refund; at_once');
    expect(
      describeCheck(
        decideCheck(charge, state, { ...recorded, endedRefunds: new Set(['return1']) }),
      ),
    ).toBe('rest');
  });
});

test('whatever a check shows, a charge only moves as the table of transitions has it, and never returns more than it got', () => {
  const returns = fc.array(
    fc.record({
      id: fc.constantFrom('a', 'b', 'c', 'd'),
      amountCents: fc.bigInt({ min: 1n, max: 12_345n }).map(toCents),
      nature: fc.constantFrom('ORIGINAL', 'MED_FRAUDE', 'MED_OPERACIONAL', null),
    }),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(
      fc.constantFrom(
        'pending',
        'paid',
        'infraction',
        'canceled',
        'failed',
        'refunded',
        'charged_back',
      ),
      fc.constantFrom('active', 'settled', 'removed_by_psp', 'removed_by_receiver'),
      returns,
      (name, status, given) => {
        const isPaid = !['pending', 'canceled', 'failed'].includes(name);
        const charge = aChargeRow({
          status: name,
          ...(isPaid && paid),
          ...(name === 'refunded' && { refundedAmount: FULL }),
        });
        const unique = [...new Map(given.map((one) => [one.id, aPixReturn(one)])).values()];
        const received = [aReceivedPix({ endToEndId: OWN, returns: unique })];
        const recorded: Recorded = {
          received: new Map(isPaid ? credited : []),
          returns: new Map(name === 'refunded' ? [[returnKey(OWN, 'before'), FULL]] : []),
          refunds: new Set(),
          endedRefunds: new Set(),
          disputed: new Set(),
          won: new Set(),
        };
        const { steps } = decideCheck(charge, { txid: 't', status, received }, recorded);
        let at = charge.status;
        let booked = name === 'refunded' ? FULL : 0n;
        for (const step of steps) {
          if (step.kind !== 'book_return') continue;
          if (step.status !== at)
            expect(mayMove({ ...charge, status: at }, step.status)).toBe(true);
          at = step.status;
          booked += step.returned.amountCents;
        }
        expect(booked <= FULL).toBe(true);
      },
    ),
  );
});
