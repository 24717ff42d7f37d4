import { UpdateWebhookBody } from '@pixmesh/contracts/http/webhook-body';
import { parseShape } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import type { EndpointId } from '@pixmesh/kernel/ids';

import { lockLanesToChange, wakeLanes } from '#lanes/lanes.sql.ts';

import { checkEndpointRules } from './check-endpoint-rules.ts';
import type { WriteEndpointDeps } from './create-endpoint.ts';
import type { EndpointOwner, EndpointRow } from './endpoint-row.ts';
import { type EndpointChanges, findEndpoint, updateEndpoint } from './endpoints.sql.ts';
import { sealEndpointSecret } from './seal-endpoint-secret.ts';

type Update = {
  id: EndpointId;
  /** Reads the request's object. @throws AppError `VALIDATION_ERROR` when it is none */
  readBody(): Record<string, unknown>;
};

/**
 * Changes what the body names and answers the endpoint as it is then. The body is not read before the endpoint is
 * found, so that another application's id answers the same whatever was sent (decision 155). Deliveries under way take
 * up the new URL and secret with their next attempt (159). A pause changes no delivery: the next fetch of the
 * endpoint's lane gives nothing, and a resumption wakes that lane, one row, in the same commit.
 *
 * @throws AppError `WEBHOOK_NOT_FOUND`; then those of the body's shape and rules
 */
export async function changeEndpoint(
  deps: WriteEndpointDeps,
  owner: EndpointOwner,
  { id, readBody }: Update,
): Promise<EndpointRow> {
  const found = await findEndpoint(deps.db, owner, id);
  if (found === null) throw new AppError('WEBHOOK_NOT_FOUND');
  const body = parseShape(UpdateWebhookBody, readBody());
  checkEndpointRules(body);
  const changes = toChanges(deps, { owner, id, body });
  if (Object.values(changes).every((change) => change === undefined)) return found;
  const isResumed = body.active === true;
  const changed = await deps.db.transaction(async (tx) => {
    await lockLanesToChange(tx, [id]);
    const row = await updateEndpoint(tx, owner, { id, ...changes });
    if (row !== null && isResumed) await wakeLanes(tx, deps.clock, [id]);
    return row;
  });
  // Deleted since it was found.
  if (changed === null) throw new AppError('WEBHOOK_NOT_FOUND');
  if (isResumed) deps.wakeSenders([id]);
  return changed;
}

function toChanges(
  deps: WriteEndpointDeps,
  { owner, id, body }: { owner: EndpointOwner; id: EndpointId; body: UpdateWebhookBody },
): EndpointChanges {
  const { secret, ...plain } = body;
  if (secret === undefined) return plain;
  const sealedSecret = secret === null ? null : sealEndpointSecret(deps, owner, { id, secret });
  return { ...plain, sealedSecret };
}
