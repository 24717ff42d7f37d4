import type { AccountId, ApplicationId, EndpointId } from '@pixmesh/kernel/ids';
import { newId } from '@pixmesh/kernel/ids';
import type { Database, Queryable } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createLogger } from '@pixmesh/telemetry/logger';

import { changeEndpoint } from '#endpoints/change-endpoint.ts';
import { removeEndpoint } from '#endpoints/remove-endpoint.ts';
import { sealEndpointSecret } from '#endpoints/seal-endpoint-secret.ts';
import { lockLanesToQueue } from '#lanes/lanes.sql.ts';
import { databaseClock, type ScheduleClock } from '#schedule-clock.ts';

import { HOOK_URL } from './a-resource-envelope.ts';
import { sealingKeys } from './test-dispatcher.ts';

/** Registered long before the events of a test. */
const REGISTERED_AT = new Date('2026-01-01T00:00:00.000Z');

const logger = createLogger('test', 'silent');

export type StoredEndpoint = {
  id: EndpointId;
  accountId: AccountId;
  applicationId: ApplicationId;
  url: string;
  events: readonly string[];
  active: boolean;
  /** Null beside a paused one: it was paused before every event. */
  pausedAt: Date | null;
  secret: string | null;
  createdAt: Date;
  deletedAt: Date | null;
};

/** An endpoint in any state, also one that no route would leave behind. */
export async function storeEndpoint(
  db: Queryable,
  changes: Partial<StoredEndpoint> = {},
): Promise<StoredEndpoint> {
  const endpoint: StoredEndpoint = {
    id: newId<EndpointId>(),
    accountId: newId<AccountId>(),
    applicationId: newId<ApplicationId>(),
    url: HOOK_URL,
    events: ['charge.pix.created'],
    active: true,
    pausedAt: null,
    secret: null,
    createdAt: REGISTERED_AT,
    deletedAt: null,
    ...changes,
  };
  await db.query(sql`
    with lane as (insert into lanes (id) values (${endpoint.id}))
    insert into endpoints (
      id, account_id, application_id, url, description, events, active, paused_at, sealed_secret, created_at,
      deleted_at
    )
    values (
      ${endpoint.id}, ${endpoint.accountId}, ${endpoint.applicationId}, ${endpoint.url}, '',
      ${endpoint.events}, ${endpoint.active}, ${endpoint.pausedAt}, ${sealed(endpoint)},
      ${endpoint.createdAt}, ${endpoint.deletedAt}
    )`);
  await lockLanesToQueue(db, [endpoint]);
  return endpoint;
}

/** As the role `api` seals it. */
function sealed(endpoint: StoredEndpoint): string | null {
  const { id, secret } = endpoint;
  const { publicKey: sealingPublicKey } = sealingKeys;
  return secret === null
    ? null
    : sealEndpointSecret({ sealingPublicKey }, endpoint, { id, secret });
}

/** What a change of an endpoint is made with; `hinted` are the lanes for which senders were woken. */
export function endpointDeps(db: Database, clock: ScheduleClock = databaseClock) {
  const hinted: string[] = [];
  const wakeSenders = (laneIds: readonly string[]): void => void hinted.push(...laneIds);
  const { publicKey: sealingPublicKey } = sealingKeys;
  return { db, logger, clock, wakeSenders, sealingPublicKey, hinted };
}

/** What `PATCH /v1/webhooks/{id}` does. */
export async function patchEndpoint(
  db: Database,
  endpoint: StoredEndpoint,
  body: Record<string, unknown>,
): Promise<void> {
  await changeEndpoint(endpointDeps(db), endpoint, { id: endpoint.id, readBody: () => body });
}

/** What `DELETE /v1/webhooks/{id}` does. */
export async function removeStoredEndpoint(
  db: Database,
  { id, ...owner }: StoredEndpoint,
): Promise<void> {
  await removeEndpoint(endpointDeps(db), owner, id);
}
