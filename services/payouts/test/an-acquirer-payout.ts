import type { AcquirerPayout, PixReturn } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';

/** What the acquirer says of the payout of `aSentPayout`: at work on it. */
export function anAcquirerPayout(changes: Partial<AcquirerPayout> = {}): AcquirerPayout {
  return {
    idEnvio: '00000000000000000000000000000000',
    endToEndId: `E${'1'.repeat(31)}`,
    status: 'processing',
    amountCents: toCents(1_500),
    reason: null,
    requestedAt: new Date('2026-11-21T12:00:00.500Z'),
    settledAt: null,
    returns: [],
    ...changes,
  };
}

/** A part of it that the recipient's institution gave back. */
export function aReturn(changes: Partial<PixReturn> = {}): PixReturn {
  return {
    id: 'd1',
    returnId: 'D1',
    amountCents: toCents(400),
    status: 'returned',
    nature: null,
    reason: null,
    settledAt: new Date('2026-11-21T12:00:01.500Z'),
    ...changes,
  };
}
