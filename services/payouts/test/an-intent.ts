import { type AccountId, newId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import type { Queryable } from '@pixmesh/postgres/pool';

import { createNewIntents, type NewIntent } from '#creation/intents.sql.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';

/** Stores the intent of an automatic payout, whose hold is taken elsewhere. */
export async function anIntent(
  db: Queryable,
  accountId: AccountId = newId<AccountId>(),
): Promise<PayoutRow> {
  const intent = await createNewIntents(db).submit(aNewIntent(accountId));
  if (intent === null) throw new Error('the id exists');
  return intent;
}

export function aNewIntent(accountId: AccountId = newId<AccountId>()): NewIntent {
  return {
    id: newId(),
    accountId,
    applicationId: newId(),
    source: 'api',
    requestedBy: null,
    amount: toCents(1_500n),
    fee: toCents(50n),
    description: null,
    reference: null,
    recipientName: null,
    recipientDocument: null,
    pixKeyType: 'email',
    pixKey: 'Ana@example.com',
    pixKeyCanonical: 'ana@example.com',
    webhookUrl: null,
    webhookSealedSecret: null,
    fingerprint: Buffer.alloc(1),
    isAutomatic: true,
    holdId: newId(),
    firstCheckMs: 60_000,
    traceparent: null,
  };
}
