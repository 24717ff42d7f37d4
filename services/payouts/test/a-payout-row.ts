import { newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';

import type { VisiblePayout } from '#payouts/payout-row.ts';

/** A payout that waits for approval, with valid defaults. */
export function aPayoutRow(changes: Partial<VisiblePayout> = {}): VisiblePayout {
  return {
    id: newId(),
    accountId: newId(),
    applicationId: newId(),
    source: 'api',
    status: 'pending',
    amount: toCents(1_500),
    fee: toCents(50),
    description: null,
    reference: null,
    recipientName: null,
    recipientDocument: null,
    pixKeyType: 'email',
    pixKey: 'Ana@Example.com',
    pixKeyCanonical: 'ana@example.com',
    webhookUrl: null,
    webhookSealedSecret: null,
    fingerprint: Buffer.alloc(32),
    isAutomatic: false,
    pendingReason: null,
    holdId: newId(),
    requestedBy: null,
    approvedBy: null,
    endToEndId: null,
    failureReason: null,
    createdAt: new Date('2026-11-21T12:00:00.000Z'),
    processedAt: null,
    version: 0,
    eventSequence: 1,
    sendAt: null,
    unansweredCalls: 0,
    lastCallAt: null,
    lastCallError: null,
    uncountedRefusal: null,
    ending: null,
    endingReason: null,
    contradiction: null,
    checks: 0,
    checkTraceparent: null,
    leaseToken: null,
    lastCheckAt: null,
    lastCheckAnswer: null,
    nextCheckAt: null,
    readAt: new Date('2026-11-21T12:01:00.000Z'),
    ...changes,
  };
}
