import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';

import type { ChargeRow } from '#charge/charge-row.ts';

/** A pending charge with valid defaults. */
export function aChargeRow(changes: Partial<ChargeRow> = {}): ChargeRow {
  return {
    id: newId(),
    accountId: newId(),
    applicationId: newId(),
    source: 'api',
    status: 'pending',
    amount: toCents(12_345),
    description: null,
    reference: null,
    customer: { name: 'Ana Souza', email: 'ana@example.com', document: '52998224725' },
    webhookUrl: null,
    webhookSealedSecret: null,
    expiresIn: 3_600,
    defaultExpiresIn: 86_400,
    latePaymentPolicy: 'accept',
    releaseDelaySeconds: 0,
    fingerprint: Buffer.alloc(32),
    brCode: null,
    acceptedE2e: null,
    endToEndId: null,
    failureReason: null,
    refundedAmount: toCents(0n),
    createdAt: new Date('2026-11-21T12:00:00.000Z'),
    expiresAt: new Date('2026-11-21T13:00:00.000Z'),
    paidAt: null,
    version: 0,
    eventSequence: 0,
    unansweredCalls: 1,
    lastCallAt: null,
    lastCallError: null,
    firstNotFoundAt: null,
    uncountedRefusal: null,
    checks: 0,
    checkTraceparent: null,
    leaseToken: null,
    lastCheckAt: null,
    lastCheckAnswer: null,
    nextCheckAt: null,
    readAt: new Date('2026-11-21T12:00:01.000Z'),
    ...changes,
  };
}
