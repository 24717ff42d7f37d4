import { CreateWebhookBody } from '@pixmesh/contracts/http/webhook-body';
import { parseShape } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import { type AccountId, type EndpointId, newId } from '@pixmesh/kernel/ids';
import type { Database, Transaction } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { lockLanesToQueue } from '#lanes/lanes.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

import { checkEndpointRules } from './check-endpoint-rules.ts';
import type { EndpointOwner, EndpointRow } from './endpoint-row.ts';
import {
  countEndpoints,
  insertEndpoint,
  lockCreations,
  lockCreationsOfAccount,
} from './endpoints.sql.ts';
import { sealEndpointSecret } from './seal-endpoint-secret.ts';

/** Endpoints of one application: a bound on what one event fans out to (decision 162). */
const ENDPOINTS_PER_APPLICATION_MAX = 100;

/** What writes endpoints: it can seal a secret and never open one. */
export type WriteEndpointDeps = EndpointLanesDeps & { sealingPublicKey: string };

/** What changes whether lanes of endpoints are served. */
export type EndpointLanesDeps = {
  db: Database;
  logger: Logger;
  clock: ScheduleClock;
  /** Wakes senders for these lanes. A hint: polling finds them too. */
  wakeSenders(laneIds: readonly string[]): void;
};

type NewEndpointRequest = {
  object: Record<string, unknown>;
  /** Endpoints of the account at most; null: no limit. */
  accountMax: number | null;
};

/**
 * Registers an endpoint. Nothing makes a repeat the same endpoint: two with one URL are allowed (decision 156), and
 * creations of one application pass one after the other, so that no race gets by the bound; where an operator limits
 * the account, all of the account do. The endpoint's lane is inserted with it: every change of the endpoint locks that
 * row.
 *
 * @throws AppError of the body's shape and rules; `VALIDATION_ERROR` without details beyond a bound
 */
export async function createEndpoint(
  deps: WriteEndpointDeps,
  owner: EndpointOwner,
  { object, accountMax }: NewEndpointRequest,
): Promise<EndpointRow> {
  const body = parseShape(CreateWebhookBody, object);
  checkEndpointRules(body);
  const id = newId<EndpointId>();
  const endpoint = {
    id,
    url: body.url,
    description: body.description,
    events: body.events,
    sealedSecret:
      body.secret === null ? null : sealEndpointSecret(deps, owner, { id, secret: body.secret }),
    countMax: ENDPOINTS_PER_APPLICATION_MAX,
  };
  const created = await deps.db.transaction(async (tx) => {
    if (accountMax !== null) await requireRoom(tx, owner.accountId, accountMax);
    await lockCreations(tx, owner);
    const row = await insertEndpoint(tx, owner, endpoint);
    if (row !== null) await lockLanesToQueue(tx, [{ id, accountId: owner.accountId }]);
    return row;
  });
  if (created !== null) return created;
  throw full('An application', ENDPOINTS_PER_APPLICATION_MAX);
}

/** Until the transaction ends no other creation of the account passes, so the count stays true (ADR 0026). */
async function requireRoom(tx: Transaction, accountId: AccountId, max: number): Promise<void> {
  await lockCreationsOfAccount(tx, accountId);
  if ((await countEndpoints(tx, accountId)) >= max) throw full('This account', max);
}

function full(whose: string, max: number): AppError {
  return new AppError('VALIDATION_ERROR', {
    publicMessage: `${whose} has at most ${max} webhook endpoints.`,
  });
}
