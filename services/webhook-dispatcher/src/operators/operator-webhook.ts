import type { OperatorWebhook } from '@pixmesh/contracts/internal/operator-deliveries';
import type { Queryable } from '@pixmesh/postgres/pool';

import { type EndpointHealth, readEndpointHealth } from '#endpoints/endpoint-health.sql.ts';
import { toEndpointResource } from '#endpoints/endpoint-resource.ts';
import type { EndpointOwner, EndpointRow } from '#endpoints/endpoint-row.ts';

/** Endpoints of one application as operators see them: whose they are and how they do. */
export async function toOperatorWebhooks(
  db: Queryable,
  owner: EndpointOwner,
  rows: readonly EndpointRow[],
): Promise<OperatorWebhook[]> {
  const health = await readEndpointHealth(
    db,
    rows.map(({ id }) => id),
  );
  const healthOf = new Map(health.map((one) => [one.endpointId, one]));
  return rows.map((row) => ({
    ...toEndpointResource(row),
    account_id: owner.accountId,
    application_id: owner.applicationId,
    secret_changed_at: toText(row.secretChangedAt),
    health: toHealth(healthOf.get(row.id)),
  }));
}

function toHealth(health: EndpointHealth | undefined): OperatorWebhook['health'] {
  return {
    attempts_succeeded: Number(health?.succeededCount ?? 0),
    attempts_failed: Number(health?.failedCount ?? 0),
    last_success_at: toText(health?.lastSuccessAt),
    last_failure_at: toText(health?.lastFailureAt),
    failing_since: toText(health?.failingSince),
    breaker_open: health?.isBreakerOpen ?? false,
    waiting: health?.waitingCount ?? 0,
    oldest_due_at: toText(health?.oldestDueAt),
  };
}

function toText(instant: Date | null | undefined): string | null {
  return instant?.toISOString() ?? null;
}
