import type { AccountLimits } from '@pixmesh/contracts/admin/account-limits';
import { ACCOUNT_USE_PATH, AccountUse } from '@pixmesh/contracts/internal/account-use';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { RequestLimits } from '#account/account-limits.ts';
import { findAccount } from '#account/accounts.sql.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import { COUNTERS } from '#limits/limits-of.ts';
import type { RequestCounters } from '#limits/request-counters.ts';

import { listLimitedKeys } from '../keys/keys.sql.ts';
import { callOwner, type OwnerAndTablesDeps, readAnswer } from '../owners/call-owner.ts';
import { found, requirePathId } from '../read-request.ts';

const KEYS_MAX = 100;
const DISPATCHER = 'webhook-dispatcher';

export type LimitsDeps = OwnerAndTablesDeps & { counters: Pick<RequestCounters, 'used'> };

/** `GET /admin/accounts/{id}/limits`: what is limited, and how much of it is used at this moment. */
export function registerLimits(app: FastifyInstance, deps: LimitsDeps): void {
  app.get('/admin/accounts/:id/limits', async (request): Promise<AccountLimits> => {
    const account = found(await findAccount(deps.db, requirePathId(request) as AccountId));
    const { id, limits, settings } = account;
    const [use, keys] = await Promise.all([
      readUse(deps, request, id),
      listLimitedKeys(deps.db, { accountId: id, limit: KEYS_MAX + 1 }),
    ]);
    const shown = keys.slice(0, KEYS_MAX);
    const { isShared, ofEach } = await readCounts(deps, [{ id, limits }, ...shown]);
    return {
      object: 'limits',
      account_id: id,
      counted_by: isShared ? 'all_gateways' : 'this_gateway',
      ...countedLimits(limits, ofEach[0]),
      endpoints: { max: settings.endpoints_max, used: use.endpoints },
      deliveries_per_second: {
        max: limits.deliveries_per_second_max,
        in_force: use.deliveries_per_second_max,
      },
      keys: shown.map((key, place) => ({
        id: key.id,
        ...countedLimits(key.limits, ofEach[place + 1]),
      })),
      has_more_keys: keys.length > KEYS_MAX,
    };
  });
}

async function readUse(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
  id: AccountId,
): Promise<AccountUse> {
  const path = buildUpstreamPath(ACCOUNT_USE_PATH, { id }, '');
  return readAnswer(
    AccountUse,
    DISPATCHER,
    await callOwner(deps, DISPATCHER, { request, method: 'GET', path }),
  );
}

type Counts = { window: number; inFlight: number };

async function readCounts(
  { counters }: LimitsDeps,
  limited: readonly { id: string; limits: RequestLimits }[],
): Promise<{ isShared: boolean; ofEach: Counts[] }> {
  const used = await counters.used({
    windows: limited.map(({ id }) => COUNTERS.minute(id)),
    flights: limited.map(({ id }) => COUNTERS.inFlight(id)),
  });
  const ofEach = limited.map((_, place) => ({
    window: used.windows[place] ?? 0,
    inFlight: used.flights[place] ?? 0,
  }));
  return { isShared: used.isShared, ofEach };
}

/** Without a limit nothing is counted, and what a former one has counted says nothing. */
function countedLimits(limits: RequestLimits, counts: Counts = { window: 0, inFlight: 0 }) {
  const { requests_per_minute_max: perMinute, requests_in_flight_max: inFlight } = limits;
  return {
    requests_per_minute: { max: perMinute, used: perMinute === null ? null : counts.window },
    requests_in_flight: { max: inFlight, used: inFlight === null ? null : counts.inFlight },
  };
}
