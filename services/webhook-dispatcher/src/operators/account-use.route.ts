import { ACCOUNT_USE_PATH, type AccountUse } from '@pixmesh/contracts/internal/account-use';
import { type AccountId, readPathId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { countEndpoints } from '#endpoints/endpoints.sql.ts';
import { findRate } from '#rates/delivery-rates.sql.ts';
import type { ScheduleClock } from '#schedule-clock.ts';

type UseDeps = { db: Database; clock: ScheduleClock };

/** What `GET /admin/accounts/{id}/limits` shows of the dispatcher. */
export function registerAccountUse(app: FastifyInstance, deps: UseDeps): void {
  app.get<{ Params: { id: string } }>(ACCOUNT_USE_PATH, async (request): Promise<AccountUse> => {
    const id = readPathId<AccountId>(request.params.id);
    const rate = await findRate(deps.db, deps.clock, id);
    return {
      endpoints: await countEndpoints(deps.db, id),
      deliveries_per_second_max: rate?.max ?? null,
      deliveries_reached: rate?.isReached ?? null,
    };
  });
}
