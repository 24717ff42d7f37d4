import type { AccountLimits } from '@pixmesh/contracts/admin/account-limits';
import { ACCOUNT_USE_PATH, AccountUse } from '@pixmesh/contracts/internal/account-use';
import { AppError } from '@pixmesh/kernel/app-error';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import type { RequestLimits } from '#account/account-limits.ts';
import { findAccount } from '#account/accounts.sql.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import { COUNTERS, type KeyDefault } from '#limits/limits-of.ts';
import type { RequestCounters } from '#limits/request-counters.ts';

import { listLimitedKeys } from '../keys/keys.sql.ts';
import { callOwner, type OwnerAndTablesDeps, readAnswer } from '../owners/call-owner.ts';
import { found, requirePathId } from '../read-request.ts';

const KEYS_MAX = 100;
const DISPATCHER = 'webhook-dispatcher';

export type LimitsDeps = OwnerAndTablesDeps & {
  counters: Pick<RequestCounters, 'used'>;
  keyDefault: KeyDefault;
  logger: Logger;
};

/**
 * `GET /admin/accounts/{id}/limits`: what is limited, and how much is used at this moment. While the dispatcher is away
 * an operator may have to limit somebody all the more: then its part is null, and named as unavailable.
 */
export function registerLimits(app: FastifyInstance, deps: LimitsDeps): void {
  app.get('/admin/accounts/:id/limits', async (request): Promise<AccountLimits> => {
    const account = found(await findAccount(deps.db, requirePathId(request) as AccountId));
    const { id, limits, settings } = account;
    const [use, keys] = await Promise.all([
      readUse(deps, request, id),
      listLimitedKeys(deps.db, { accountId: id, limit: KEYS_MAX + 1 }),
    ]);
    const { ofAccount, ofKeys } = await readCounts(deps, id, keys.slice(0, KEYS_MAX));
    return {
      object: 'limits',
      account_id: id,
      counted_by: ofAccount.countedBy,
      unavailable: use === null ? [DISPATCHER] : [],
      ...countedLimits(limits, ofAccount),
      endpoints: { max: settings.endpoints_max, used: use?.endpoints ?? null },
      deliveries_per_second: {
        max: limits.deliveries_per_second_max,
        in_force: use?.deliveries_per_second_max ?? null,
        reached: use?.deliveries_reached ?? null,
      },
      keys: ofKeys.map(([key, counts]) => ({ id: key.id, ...countedLimits(key.limits, counts) })),
      has_more_keys: keys.length > KEYS_MAX,
      key_default: shownDefault(deps.keyDefault),
    };
  });
}

/** Null where the dispatcher does not tell. */
async function readUse(
  deps: LimitsDeps,
  request: FastifyRequest,
  id: AccountId,
): Promise<AccountUse | null> {
  const path = buildUpstreamPath(ACCOUNT_USE_PATH, { id }, '');
  try {
    const answer = await callOwner(deps, DISPATCHER, { request, method: 'GET', path });
    return readAnswer(AccountUse, DISPATCHER, answer);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.logger.warn({ err: error, account_id: id }, 'use of webhooks is missing in limits');
    return null;
  }
}

type Counts = {
  countedBy: AccountLimits['counted_by'];
  window: number;
  inFlight: number;
  inFlightHere: number;
};

async function readCounts<Key extends { id: string }>(
  { counters }: LimitsDeps,
  accountId: AccountId,
  keys: readonly Key[],
): Promise<{ ofAccount: Counts; ofKeys: [Key, Counts][] }> {
  const ids = [accountId, ...keys.map(({ id }) => id)];
  const { isShared, ...used } = await counters.used({
    windows: ids.map(COUNTERS.minute),
    flights: ids.map(COUNTERS.inFlight),
  });
  const at = (place: number): Counts => ({
    countedBy: isShared ? 'all_gateways' : 'this_gateway',
    window: used.windows[place] ?? 0,
    inFlight: used.flights[place] ?? 0,
    inFlightHere: used.flightsHere[place] ?? 0,
  });
  return { ofAccount: at(0), ofKeys: keys.map((key, place) => [key, at(place + 1)]) };
}

function shownDefault(keyDefault: KeyDefault): AccountLimits['key_default'] {
  if (keyDefault === null) return null;
  return { requests_max: keyDefault.max, window_seconds: keyDefault.windowMs / 1000 };
}

/** What a former limit has counted says nothing. */
function countedLimits(limits: RequestLimits, counts: Counts) {
  const { requests_per_minute_max: perMinute, requests_in_flight_max: inFlight } = limits;
  const ofMinute = { max: perMinute, used: perMinute === null ? null : counts.window };
  const ofFlight =
    inFlight === null
      ? { used: counts.inFlightHere, counted_by: 'this_gateway' as const }
      : { used: counts.inFlight, counted_by: counts.countedBy };
  return { requests_per_minute: ofMinute, requests_in_flight: { max: inFlight, ...ofFlight } };
}
