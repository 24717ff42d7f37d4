import { UpdateWebhookBody } from '@pixmesh/contracts/http/webhook-body';
import { parseShape } from '@pixmesh/http/json-request';
import { AppError } from '@pixmesh/kernel/app-error';
import type { EndpointId } from '@pixmesh/kernel/ids';

import { checkEndpointRules } from './check-endpoint-rules.ts';
import type { WriteEndpointDeps } from './create-endpoint.ts';
import type { EndpointOwner, EndpointRow } from './endpoint-row.ts';
import { type EndpointChanges, findEndpoint, updateEndpoint } from './endpoints.sql.ts';
import { sealEndpointSecret } from './seal-endpoint-secret.ts';
import { sweepDeliveries } from './sweep-deliveries.ts';
import { bringForward } from './waiting-deliveries.sql.ts';

type Update = {
  id: EndpointId;
  /** Reads the request's object. @throws AppError `VALIDATION_ERROR` when it is none */
  readBody(): Record<string, unknown>;
};

/**
 * Changes what the body names and answers the endpoint as it is then. The body is not looked at before the
 * endpoint is found, so that a stranger's id answers the same whatever was sent (decision 155). Deliveries under way
 * take up the new URL and secret with their next attempt (159). What was put off while the endpoint was paused comes
 * forward in commits of its own: the endpoint's is the first, and nobody puts off anything behind it. Said twice it
 * changes nothing more but what was cut short the first time.
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
  const changed = await updateEndpoint(deps.db, owner, { id, ...changes });
  // Deleted since it was found.
  if (changed === null) throw new AppError('WEBHOOK_NOT_FOUND');
  if (body.active === true) {
    await sweepDeliveries(deps, { step: bringForward, owner, endpointId: id });
  }
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
