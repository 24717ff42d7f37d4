import { settleIntent } from '@pixmesh/acquirer-orders/hold-intent';
import type { TenantClaims } from '@pixmesh/contracts/internal/caller-claims';
import { deadlineIn } from '@pixmesh/http/deadline';
import { createInternalClient } from '@pixmesh/http/internal-client';
import { createLedgerHolds } from '@pixmesh/ledger-client/ledger-holds';
import { createLogger } from '@pixmesh/telemetry/logger';
import { testIdentity } from '@pixmesh/testkit/mesh-calls';
import { startSimulatorProcess } from '@pixmesh/testkit/simulator-process';

import { PayoutsConfig } from '#config.ts';
import { createIntentCommits } from '#creation/commit-intents.sql.ts';
import { payoutIntents } from '#creation/payout-intents.ts';
import { startPayouts } from '#service.ts';

import { callPayouts, createPayoutsEnvironment } from './payouts-environment.ts';

export type PayoutsUnderTest = Awaited<ReturnType<typeof startPayoutsUnderTest>>;

/**
 * The service in this process, so that failpoints can be armed at once; its jobs check intents much later.
 *
 * @param settings those that a test needs otherwise, such as an acquirer
 */
export async function startPayoutsUnderTest(settings: Record<string, string> = {}) {
  const environment = await createPayoutsEnvironment();
  const config = PayoutsConfig.parse({ ...environment.variables, ...settings });
  const service = await startPayouts(config);
  const ledgerCalls = createInternalClient({
    service: 'ledger',
    url: environment.network.url,
    identity: testIdentity('payouts'),
  });
  const intents = payoutIntents({
    db: environment.db,
    commits: createIntentCommits(environment.db),
    holds: createLedgerHolds(ledgerCalls),
    logger: createLogger('test', 'silent'),
    wakeOutbox: () => undefined,
    sendAtOnce: (commit) => commit(null),
  });
  return {
    ...environment,
    url: service.url,
    request: (
      caller: TenantClaims | null,
      route: string,
      ...[body, headers]: [body?: unknown, headers?: Record<string, string>]
    ) => callPayouts(service.url, { caller, route, body, headers }),
    /** What the job does with an intent that is due. */
    settle: async (id: string) => {
      const row = await environment.row(id);
      return row?.status === 'intent' ? await settleIntent(intents, row, deadlineIn(2_000)) : null;
    },
    [Symbol.asyncDispose]: async () => {
      await service[Symbol.asyncDispose]();
      await ledgerCalls[Symbol.asyncDispose]();
      await environment[Symbol.asyncDispose]();
    },
  };
}

export type PayoutsAtAcquirer = Awaited<ReturnType<typeof startPayoutsAtAcquirer>>;

/** The same beside a simulated acquirer, which answers what it is asked. */
export async function startPayoutsAtAcquirer() {
  const simulator = await startSimulatorProcess();
  const acquirer = { ACQUIRER_URL: simulator.url, ACQUIRER_TIMEOUT_MS: '4000' };
  const payouts = await startPayoutsUnderTest(acquirer);
  return {
    ...payouts,
    simulator,
    [Symbol.asyncDispose]: async () => {
      await payouts[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
    },
  };
}
