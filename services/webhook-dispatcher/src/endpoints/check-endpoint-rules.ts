import { isEventName } from '@pixmesh/contracts/events/event-catalogue';
import { explained } from '@pixmesh/http/refusal';
import { AppError } from '@pixmesh/kernel/app-error';
import { checkPublicUrl } from '@pixmesh/kernel/public-url';

/**
 * The rules of an endpoint that have a code of their own, for whatever a body names, once its shape holds: the URL
 * first, then the events (decision 150). No name is a pattern: a wildcard is an unknown name as well (146).
 * @throws AppError `INVALID_WEBHOOK_URL`; `INVALID_WEBHOOK_EVENT` with the unknown names
 */
export function checkEndpointRules(body: {
  url?: string | undefined;
  events?: readonly string[] | undefined;
}): void {
  if (body.url !== undefined && checkPublicUrl(body.url, 'write').kind === 'refused') {
    throw new AppError('INVALID_WEBHOOK_URL', { details: ['url'] });
  }
  const unknown = (body.events ?? []).filter((name) => !isEventName(name));
  if (unknown.length > 0) {
    throw explained('INVALID_WEBHOOK_EVENT', 'GET /v1/webhooks/events lists all.', {
      details: unknown,
    });
  }
}
