import { CreateApplicationBody, CreateKeyBody } from '@pixmesh/contracts/admin/admin-bodies';
import { armFailpoints } from '@pixmesh/service/failpoints';
import { readStoredStates } from '@pixmesh/testkit/read-stored-states';
import { recordStatements } from '@pixmesh/testkit/record-statements';
import { expect, test } from 'vitest';

import { type AuditAction, digest, type TargetKind } from '#admin/audit/record-change.ts';
import { fingerprintOf } from '#admin/creation-id.ts';
import { failpoint } from '#failpoints.ts';
import { maintainRequestLog } from '#request-log/requests.sql.ts';

// These words stand in tables, digests and at the broker. A test that fails says that stored meaning has changed: mend
// the code, never the expected value.

const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a001';

test('bodies keep their fingerprints', () => {
  const application = CreateApplicationBody.parse({ name: 'Loja' });
  const key = CreateKeyBody.parse({
    name: 'Chave',
    scopes: ['charge:write', 'charge:read'],
    expires_at: '2027-01-01T00:00:00Z',
  });
  expect({
    application: fingerprintOf(ID, application).toString('hex'),
    key: fingerprintOf(ID, key).toString('hex'),
  }).toEqual({
    application: '9868ee1d0e9b5cfbdf905bf77ea872f7eab90faed03e5aa48dcbe834e1b79155',
    key: '72a4aef839d87c57f43d3c05c94a880029d680292c2ee6e0a1241ff99469095d',
  });
});

test('a state keeps the digest that the audit log has of it', () => {
  expect(digest({ id: ID, object: 'key', name: 'Chave' })?.toString('hex')).toEqual(
    '948a9d91aa81279675398fcb36b6eccee72526302530de2218b041d3dbb5b68a',
  );
});

test('the audit log keeps its words', () => {
  const actions: Record<AuditAction, true> = {
    'operator.created': true,
    'operator.removed': true,
    'account.created': true,
    'account.updated': true,
    'application.created': true,
    'application.updated': true,
    'key.created': true,
    'key.updated': true,
    'key.revoked': true,
    'payout.creation_requested': true,
    'payout.created': true,
    'payout.approval_requested': true,
    'payout.approved': true,
    'payout.cancellation_requested': true,
    'payout.canceled': true,
    'payout.check_requested': true,
    'payout.checked': true,
    'payouts.stop_requested': true,
    'payouts.stopped': true,
    'payouts.resumption_requested': true,
    'payouts.resumed': true,
    'charge.creation_requested': true,
    'charge.created': true,
    'charge.cancellation_requested': true,
    'charge.canceled': true,
    'charge.check_requested': true,
    'charge.checked': true,
    'refund.creation_requested': true,
    'refund.created': true,
    'dispute.defense_requested': true,
    'dispute.defended': true,
    'dispute.message_requested': true,
    'dispute.message_sent': true,
    'suspense.resolution_requested': true,
    'suspense.resolution_accepted': true,
    'webhook.change_requested': true,
    'webhook.changed': true,
    'webhook.test_requested': true,
    'webhook.test_queued': true,
    'delivery.resend_requested': true,
    'delivery.resend_queued': true,
    'recovery.creation_requested': true,
    'recovery.created': true,
    'recovery.cancellation_requested': true,
    'recovery.canceled': true,
    'reconciliation.run_requested': true,
    'dead_letter.replay_requested': true,
    'dead_letter.dismissal_requested': true,
    'dead_letter.dismissed': true,
  };
  const targets: Record<TargetKind, true> = {
    operator: true,
    account: true,
    application: true,
    key: true,
    payout: true,
    payout_stop: true,
    charge: true,
    refund: true,
    dispute: true,
    suspense_item: true,
    webhook: true,
    delivery: true,
    recovery: true,
    reconciliation: true,
    dead_letter: true,
  };
  expect([Object.keys(actions).length, Object.keys(targets).length]).toEqual([49, 15]);
});

test('tables keep their words', () => {
  expect(readStoredStates(new URL('../schema.sql', import.meta.url))).toEqual({
    accounts_document_type: ['cpf', 'cnpj'],
    accounts_late_payment_policy: ['accept', 'suspense'],
    accounts_onboarding_status: ['pending', 'in_review', 'approved', 'rejected'],
    accounts_rejected_is_inactive: ['rejected', 'inactive'],
    accounts_status: ['active', 'inactive'],
  });
});

test('the lease of the request log keeps its name', async () => {
  for (const text of await recordStatements((tx) => maintainRequestLog(tx, 30))) {
    expect(text).toContain(`from leases where name = 'request-log' for update`);
  }
});

test('failpoints keep the names that tests arm', async () => {
  const actions: Record<Parameters<typeof failpoint>[0], 'error'> = {
    'gateway.callback.before-store': 'error',
    'gateway.callback.after-store': 'error',
  };
  armFailpoints(actions);
  for (const name of Object.keys(actions) as (keyof typeof actions)[]) {
    await expect(failpoint(name)).rejects.toThrow(`failpoint ${name}`);
  }
});
