import type { Break, ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { newId } from '@pixmesh/kernel/ids';
import { sql } from '@pixmesh/postgres/sql';
import { reconcile as reconcileWith } from '@pixmesh/testkit/reconcile';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { PayoutsConfig } from '#config.ts';
import { startPayouts } from '#service.ts';
import {
  callPayouts,
  createPayoutsEnvironment,
  type PayoutsEnvironment,
} from '#test/payouts-environment.ts';

/** The whole service beside a real ledger; nobody answers as the acquirer. */
let environment: PayoutsEnvironment;
let service: Awaited<ReturnType<typeof startPayouts>>;

beforeAll(async () => {
  environment = await createPayoutsEnvironment();
  await environment.db.query(sql`update reconciliation_lease set due_at = 'infinity'`);
  service = await startPayouts(
    PayoutsConfig.parse({ ...environment.variables, RECONCILIATION_WINDOW_MS: '1' }),
  );
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await environment[Symbol.asyncDispose]();
});

test('open holds of the ledger are compared with payouts, and an acquirer that is away is a break', async () => {
  const id = await aPayout();
  const clean = await reconcile();
  await environment.db.query(
    sql`update payouts set status = 'canceled', send_at = null where id = ${id}`,
  );
  // A difference is a break once it lasts: the window starts with the first run that sees it.
  await reconcile();
  const broken = await reconcile();
  await environment.db.query(sql`update payouts set status = 'processing' where id = ${id}`);
  const healed = await reconcile();
  expect(clean.service).toBe('payouts');
  expect(breaksOf(clean, 'hold')).toEqual([]);
  expect(clean.checks.find(({ name }) => name === 'hold')?.compared).toBe(1);
  expect(breaksOf(clean, 'settlement')).toEqual([]);
  expect(breaksOf(clean, 'payout')).toMatchObject([{ kind: 'unavailable', id: 'payout/full' }]);
  expect(breaksOf(clean, 'acquirer_balance')).toMatchObject([{ kind: 'unavailable' }]);
  expect(breaksOf(broken, 'hold')).toMatchObject([{ kind: 'state', id, found: 'canceled' }]);
  expect(breaksOf(broken, 'settlement')).toMatchObject([{ kind: 'missing_right', id }]);
  expect(breaksOf(healed, 'hold')).toEqual([]);
  expect(breaksOf(healed, 'settlement')).toEqual([]);
});

async function aPayout(): Promise<string> {
  const caller = await environment.fundedCreator(10_000, {
    creation_id: newId(),
    settings: { auto_payout_enabled: true },
  });
  const answer = await call('POST /v1/payouts', caller, {
    amount: 1_000,
    pix_key_type: 'email',
    pix_key: 'ana@example.com',
  });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function reconcile(): Promise<ReconciliationReport> {
  return await reconcileWith((route, body) => call(route, null, body), true);
}

function call(route: string, caller: Parameters<typeof callPayouts>[1]['caller'], body?: object) {
  return callPayouts(service.url, { caller, route, body });
}

function breaksOf(report: ReconciliationReport, name: string): Break[] {
  return report.checks.find((check) => check.name === name)?.breaks ?? [];
}
