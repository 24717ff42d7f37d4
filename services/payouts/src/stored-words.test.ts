import {
  holdReleaseCommandId,
  holdSettleCommandId,
  suspenseResolveCommandId,
} from '@pixmesh/contracts/internal/ledger-command-ids';
import { toCents } from '@pixmesh/kernel/money';
import { armFailpoints } from '@pixmesh/service/failpoints';
import { readStoredStates } from '@pixmesh/testkit/read-stored-states';
import { expect, test } from 'vitest';

import { fingerprintOf } from '#creation/fingerprint.ts';
import { failpoint } from '#failpoints.ts';
import { payoutSuspendCommandIds, payoutReturnCreditCommandId } from '#payouts/ledger-commands.ts';
import { callbacksConsumer } from '#status-check/callbacks.consumer.ts';
import { payoutsChecks } from '#reconciliation/payouts-checks.ts';
import { ledgerEventsConsumer } from '#settlement/ledger-events.consumer.ts';

// These words stand in tables, digests and at the broker. A test that fails says that stored meaning has changed: mend
// the code, never the expected value.

const END_TO_END_ID = 'E60701190202611201530a1b2c3d4e5f';
const RETURN_ID = 'D12345678202611201532a1b2c3d4e5f';
const ID = '0190b6a4-7c1e-7b52-9a1d-2f60f1c8a008';

test('commands to the ledger keep their ids', () => {
  const [completedAfterFailed, failedAfterCompleted] = payoutSuspendCommandIds({ id: ID });
  expect({
    'hold.settle': holdSettleCommandId({ holdId: ID }),
    'hold.release': holdReleaseCommandId({ holdId: ID }),
    'payout_return.credit': payoutReturnCreditCommandId(END_TO_END_ID, RETURN_ID),
    'suspense.resolve': suspenseResolveCommandId(ID),
    'payout.suspend, completed_after_failed': completedAfterFailed,
    'payout.suspend, failed_after_completed': failedAfterCompleted,
  }).toEqual({
    'hold.release': '10b9ee20-0baa-5f99-8b6c-ba331e29cd88',
    'hold.settle': 'e766da65-e299-51c4-8637-35b7a5c0147f',
    'payout.suspend, completed_after_failed': '274a414c-b4c7-50b1-b8a8-6b62ec3245c7',
    'payout.suspend, failed_after_completed': '8a52a1e0-a6f9-5549-b90a-c675a9eac5a4',
    'payout_return.credit': '6ce995a9-29db-5183-8924-75c675c7d4bc',
    'suspense.resolve': '42f9ba32-e563-54dc-8cb3-b5e95ee468e1',
  });
});

test('a body keeps its fingerprint', () => {
  const order = {
    amount: toCents(1_000),
    pixKeyType: 'phone',
    pixKey: '(11) 98765-4321',
    pixKeyCanonical: '+5511987654321',
    recipientName: 'Ana',
    recipientDocument: '52998224725',
    description: null,
    reference: 'order-0001',
    webhookUrl: 'https://loja.com.br/',
    webhookSecret: 'secret',
  } as const;
  expect(fingerprintOf(order).toString('hex')).toEqual(
    '3361bc318f72cc7fc63ab6b66c516a3b10fbb83597018e443a36a563376937e7',
  );
});

test('consumer groups keep their offsets', () => {
  const groups = [ledgerEventsConsumer({} as never), callbacksConsumer({} as never)];
  expect(groups.map(({ groupId }) => groupId)).toEqual([
    'payouts.ledger-events',
    'payouts.acquirer-callbacks',
  ]);
});

test('tables keep their words', () => {
  expect(readStoredStates(new URL('../schema.sql', import.meta.url))).toEqual({
    payouts_ending: ['settle', 'release', 'processing'],
    payouts_failure_reason: ['failed'],
    payouts_pix_key_type: ['cpf', 'cnpj', 'email', 'phone', 'random'],
    payouts_send_at: ['processing'],
    payouts_source: ['api', 'dashboard'],
    payouts_status: ['intent', 'pending', 'processing', 'completed', 'failed', 'canceled'],
  });
});

test('reconciliation keeps the names under which breaks are stored', () => {
  expect(payoutsChecks({} as never).map(({ name }) => name)).toEqual([
    'payout',
    'hold',
    'settlement',
    'acquirer_balance',
    'delivery',
    'outbox',
    'dead_letter',
  ]);
});

test('failpoints keep the names that tests arm', async () => {
  const actions: Record<Parameters<typeof failpoint>[0], 'error'> = {
    'payouts.create.before-insert': 'error',
    'payouts.create.after-intent': 'error',
    'payouts.create.after-hold': 'error',
    'payouts.create.after-commit': 'error',
    'payouts.submit.before-call': 'error',
    'payouts.submit.in-call': 'error',
    'payouts.submit.after-answer': 'error',
    'payouts.settle.after-commit': 'error',
  };
  armFailpoints(actions);
  for (const name of Object.keys(actions) as (keyof typeof actions)[]) {
    await expect(failpoint(name)).rejects.toThrow(`failpoint ${name}`);
  }
});
