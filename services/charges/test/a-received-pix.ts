import type { PixReturn, ReceivedPix } from '@pixmesh/acquirer/acquirer';
import { toCents } from '@pixmesh/kernel/money';

/** A Pix of 123.45 for the charge of `aChargeRow`, in time. */
export function aReceivedPix(changes: Partial<ReceivedPix> = {}): ReceivedPix {
  return {
    endToEndId: 'E12345678202611211230abcdefghijk',
    txid: null,
    pixKey: null,
    amountCents: toCents(12_345),
    paidAt: new Date('2026-11-21T12:30:00.000Z'),
    returns: [],
    tariffCents: null,
    ...changes,
  };
}

/** A plain return of all of it, carried out. */
export function aPixReturn(changes: Partial<PixReturn> = {}): PixReturn {
  return {
    id: 'return1',
    returnId: 'D12345678202611211240abcdefghijk',
    amountCents: toCents(12_345),
    status: 'returned',
    nature: 'ORIGINAL',
    reason: null,
    settledAt: new Date('2026-11-21T12:40:00.000Z'),
    ...changes,
  };
}
