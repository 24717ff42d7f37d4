import { releasePendingIdOf } from '@pixmesh/contracts/internal/ledger-command-ids';
import { AppError } from '@pixmesh/kernel/app-error';
import { toCents } from '@pixmesh/kernel/money';
import { startDueRowsJob } from '@pixmesh/postgres/due-rows-job';
import type { PollingLoop } from '@pixmesh/service/polling-loop';
import type { WakeSignal } from '@pixmesh/service/wake-signal';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import type { PendingRelease } from '#commands/ledger-command.ts';
import type { LedgerEngine } from '#engine/ledger-engine.ts';

import { type DueRelease, takeDueReleases } from './releases.sql.ts';

/** Enough to fill a batch of the engine. */
const IN_FLIGHT_MAX = 200;

type ReleasePendingDeps = {
  db: Database;
  logger: Logger;
  engine: Pick<LedgerEngine, 'submit'>;
  signal?: WakeSignal;
};

/**
 * Makes pending money available when its time has come (decision 133), through the engine as every other change.
 * The row of the release goes in the transaction that books it; a crash anywhere leaves it to be taken again, and a
 * release that is submitted twice is booked once.
 */
export function startReleasePending(deps: ReleasePendingDeps): PollingLoop {
  return startDueRowsJob<DueRelease>({
    name: 'release pending money',
    logger: deps.logger,
    ...(deps.signal && { signal: deps.signal }),
    inFlightMax: IN_FLIGHT_MAX,
    sources: [{ take: (limit) => takeDueReleases(deps.db, limit), max: IN_FLIGHT_MAX }],
    handle: (release) => releaseDue(deps, release),
    describe: ({ creditId, accountId }) => ({ command_id: creditId, account_id: accountId }),
    parentOf: () => null,
    accountOf: ({ accountId }) => accountId,
  });
}

async function releaseDue(
  deps: Pick<ReleasePendingDeps, 'engine'>,
  release: DueRelease,
): Promise<void> {
  const outcome = await deps.engine.submit(releaseCommand(release));
  if (outcome.kind === 'rejected')
    throw new AppError('INTERNAL_ERROR', { message: outcome.message });
}

/** One command per credit, for ever. */
export function releaseCommand({ creditId, accountId, amount }: DueRelease): PendingRelease {
  return {
    kind: 'pending.release',
    commandId: releasePendingIdOf(creditId),
    accountId,
    creditId,
    amount: toCents(amount),
  };
}
