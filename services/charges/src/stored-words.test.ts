import {
  acquirerTariffCommandId,
  holdReleaseCommandId,
  holdSettleCommandId,
  receivedPixCommandId,
  suspenseResolveCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import type { ChargeId } from '@pixmesh/kernel/ids';
import { toCents } from '@pixmesh/kernel/money';
import { armFailpoints } from '@pixmesh/service/failpoints';
import { readStoredStates } from '@pixmesh/testkit/read-stored-states';
import { recordStatements } from '@pixmesh/testkit/record-statements';
import { expect, test } from 'vitest';

import { fingerprintOf as chargeFingerprintOf } from '#charge/creation/fingerprint.ts';
import { disputeCommandId } from '#disputes/dispute-commands.ts';
import { failpoint } from '#failpoints.ts';
import { ledgerEventsConsumer } from '#ledger-events.consumer.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
import { chargesChecks } from '#reconciliation/charges-checks.ts';
import { bookingOf } from '#reconciliation/compare-return.ts';
import { fingerprintOf as refundFingerprintOf } from '#refunds/request-refund.ts';
import { unseenDisputeId } from '#returns/return-commands.ts';
import { disputeReturnCommandId, receivedPixReturnCommandId } from '#returns/return-commands.ts';
import { lockItem } from '#suspense/lock-item.sql.ts';
import { suspenseCreditCommandId, suspensePartCommandId } from '#suspense/suspense-commands.ts';

// These words stand in tables, digests and at the broker. A test that fails says that stored meaning has changed: mend
// the code, never the expected value.

const END_TO_END_ID = 'E60701190202611201530a1b2c3d4e5f';
const RETURN_ID = 'D12345678202611201532a1b2c3d4e5f';
const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a008';

test('commands to the ledger keep their ids', () => {
  expect({
    'received_pix.credit, received_pix.suspend': receivedPixCommandId(END_TO_END_ID),
    'acquirer_tariff.book': acquirerTariffCommandId(END_TO_END_ID),
    'received_pix.return': receivedPixReturnCommandId(END_TO_END_ID, RETURN_ID),
    'dispute.block': disputeCommandId('dispute.block', { id: ID }),
    'dispute.unblock': disputeCommandId('dispute.unblock', { id: ID }),
    'dispute.return': disputeReturnCommandId(END_TO_END_ID, RETURN_ID),
    'hold.settle': holdSettleCommandId({ holdId: ID }),
    'hold.release': holdReleaseCommandId({ holdId: ID }),
    'suspense.resolve': suspenseResolveCommandId(ID),
    'suspense.resolve of a part': suspensePartCommandId(END_TO_END_ID, RETURN_ID),
    'suspense.credit': suspenseCreditCommandId(ID),
  }).toEqual({
    'acquirer_tariff.book': '006d0af0-3f57-5eb1-a624-aee0fc210f76',
    'dispute.block': '6dcb5159-6ba4-5641-be8a-4ca0ad2118d0',
    'dispute.return': '8963b07e-b4e6-5e7b-9619-ee3259b8110b',
    'dispute.unblock': '44c6bf7d-6296-574d-967e-e7485e9f8f95',
    'hold.release': '10b9ee20-0baa-5f99-8b6c-ba331e29cd88',
    'hold.settle': 'e766da65-e299-51c4-8637-35b7a5c0147f',
    'received_pix.credit, received_pix.suspend': '3f2ba929-bdf1-5d21-90a6-2f8a70c9dcbd',
    'received_pix.return': '92229b86-57d9-547e-8f40-e3593c9d5c2a',
    'suspense.credit': '8ffbeab2-d69d-51b7-bd6c-44d745b86cab',
    'suspense.resolve': '42f9ba32-e563-54dc-8cb3-b5e95ee468e1',
    'suspense.resolve of a part': '3a2b7aec-19b9-5854-9a6b-d49bcd870db2',
  });
});

test('a dispute that was not seen before its return keeps its id', () => {
  expect(unseenDisputeId(END_TO_END_ID)).toEqual('bc0be98f-88fd-5f36-8075-7d8dcca61060');
});

test('reconciliation looks for returns under the ids of their commands', () => {
  const dispositions = [
    'returned',
    'med',
    'suspense',
    'suspense_part',
    'refund',
    'unbooked',
  ] as const;
  const seen = {
    endToEndId: END_TO_END_ID,
    returnId: RETURN_ID,
    amount: toCents(100),
    seenAt: new Date(0),
    nature: null,
    refundId: null,
  };
  const ids = dispositions.map((disposition) => [
    disposition,
    bookingOf({ ...seen, disposition } as Parameters<typeof bookingOf>[0]),
  ]);
  expect(Object.fromEntries(ids)).toEqual({
    med: '8963b07e-b4e6-5e7b-9619-ee3259b8110b',
    refund: null,
    returned: '92229b86-57d9-547e-8f40-e3593c9d5c2a',
    suspense: 'efb009e0-83ad-55b0-9832-a34f5d66b345',
    suspense_part: '3a2b7aec-19b9-5854-9a6b-d49bcd870db2',
    unbooked: null,
  });
});

test('bodies keep their fingerprints', () => {
  const charge = {
    amount: toCents(12_345),
    description: 'Pedido 1',
    reference: 'order-0001',
    customer: { name: 'Ana', email: 'ana@example.com', document: '52998224725', phone: null },
    expiresIn: null,
    webhookUrl: 'https://loja.com.br/',
    webhookSecret: 'secret',
  };
  expect({
    charge: chargeFingerprintOf(charge, 86_400).toString('hex'),
    refund: refundFingerprintOf(ID as ChargeId, toCents(500)).toString('hex'),
    'refund of the rest': refundFingerprintOf(ID as ChargeId, null).toString('hex'),
  }).toEqual({
    charge: '0b475a5fab99e0d7b40bd966b95faeb577fd25c42d0649bb3abb2c5e8bf866f5',
    refund: 'c5caaab68ef6358e7bc4d28109c8ba2339c7acbe130fafb97049c9cfb8c02c74',
    'refund of the rest': 'fac1dbd7e8fd86249ee2031f129972670b3a7f62a10778fd63fc4bfd4f3f01ea',
  });
});

test('consumer groups keep their offsets', () => {
  const groups = [ledgerEventsConsumer({} as never), callbacksConsumer({} as never)];
  expect(groups.map(({ groupId }) => groupId)).toEqual([
    'charges.ledger-events',
    'charges.acquirer-callbacks',
  ]);
});

test('tables keep their words', () => {
  expect(readStoredStates(new URL('../schema.sql', import.meta.url))).toEqual({
    charges_failure_reason: ['failed'],
    charges_source: ['api', 'dashboard', 'checkout'],
    charges_status: [
      'processing',
      'pending',
      'paid',
      'canceled',
      'failed',
      'refunded',
      'charged_back',
      'infraction',
    ],
    disputes_block: ['none', 'standing', 'ended'],
    disputes_resolved: ['won', 'lost'],
    disputes_status: ['open', 'under_review', 'won', 'lost'],
    pix_notices_outcome: ['suspended', 'of_charge', 'not_found', 'foreign_key'],
    pix_returns_disposition: ['refund', 'returned', 'med', 'suspense', 'suspense_part', 'unbooked'],
    received_pix_disposition: ['credit', 'suspense'],
    received_pix_owner: ['unowned'],
    refunds_completed: ['completed'],
    refunds_ended: ['completed', 'failed'],
    refunds_failed: ['failed'],
    refunds_hold_contradiction: ['completed', 'released', 'voided', 'failed', 'settled'],
    refunds_status: ['intent', 'processing', 'completed', 'failed'],
    suspense_resolutions_accept: ['return'],
    suspense_resolutions_action: ['accept', 'return'],
    suspense_resolutions_failed: ['failed'],
    suspense_resolutions_status: ['processing', 'completed', 'failed'],
  });
});

test('the lock of an item in suspense keeps its name', async () => {
  const [lock] = await recordStatements((tx) => lockItem(tx, END_TO_END_ID));
  expect(lock).toContain(`pg_advisory_xact_lock(hashtextextended('suspense ' || $1, 0))`);
});

test('reconciliation keeps the names under which breaks are stored', () => {
  expect(chargesChecks({} as never).map(({ name }) => name)).toEqual([
    'received',
    'credit',
    'dispute',
    'refund',
    'history',
    'delivery',
    'outbox',
    'dead_letter',
    'charge_state',
  ]);
});

test('failpoints keep the names that tests arm', async () => {
  const actions: Record<Parameters<typeof failpoint>[0], 'error'> = {
    'charges.create.before-insert': 'error',
    'charges.create.after-insert': 'error',
    'charges.create.after-answer': 'error',
    'charges.create.after-commit': 'error',
    'charges.paid.before-record': 'error',
    'charges.paid.after-commit': 'error',
    'charges.paid.before-ledger-event': 'error',
    'charges.return.before-commit': 'error',
    'charges.return.after-commit': 'error',
    'charges.suspense.before-call': 'error',
    'charges.suspense.in-call': 'error',
    'charges.suspense.after-answer': 'error',
    'charges.cancel.in-call': 'error',
    'charges.cancel.after-answer': 'error',
    'charges.cancel.after-commit': 'error',
    'charges.refund.before-insert': 'error',
    'charges.refund.after-intent': 'error',
    'charges.refund.after-hold': 'error',
    'charges.refund.after-commit': 'error',
    'charges.refund.before-call': 'error',
    'charges.refund.in-call': 'error',
    'charges.refund.after-answer': 'error',
    'charges.refund.before-end': 'error',
    'charges.refund.after-end': 'error',
    'charges.dispute.after-commit': 'error',
    'charges.dispute.after-defense': 'error',
  };
  armFailpoints(actions);
  for (const name of Object.keys(actions) as (keyof typeof actions)[]) {
    await expect(failpoint(name)).rejects.toThrow(`failpoint ${name}`);
  }
});
