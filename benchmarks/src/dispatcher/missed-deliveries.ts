import { newId } from '@pixmesh/kernel/ids';

import { queryOnce } from '../durable-server.ts';
import { until } from '../until.ts';
import type { Road } from './bench-road.ts';
import type { MerchantEndpoint } from './merchant-endpoints.ts';
import type { SentEvents } from './phase-record.ts';
import { nextPhase } from './run-open-loop.ts';

const PUBLISHED_PER_SECOND = 1_000;

/** Events that an endpoint has missed, and what was published of them. */
export type Missed = SentEvents & { phase: string };

/** Events of an endpoint that is paused meanwhile: each is recorded as skipped. */
export async function missDeliveries(
  road: Road,
  { endpoint, count }: { endpoint: MerchantEndpoint; count: number },
): Promise<Missed> {
  const phase = nextPhase('missed-ours');
  await setActive(road, endpoint, false);
  const seconds = count / PUBLISHED_PER_SECOND;
  const input = { side: 'ours', phase, endpoints: [endpoint], rate: PUBLISHED_PER_SECOND } as const;
  const { sent } = await road.producer.call('openLoop', { ...input, seconds });
  const areSkipped = async () => (await countSkipped(road, endpoint)) === sent;
  await until('deliveries that are missed', areSkipped);
  await setActive(road, endpoint, true);
  return { phase, sent, schedule: null, hangingEvery: 0 };
}

/** Asks for all that the endpoint has missed, as `POST /admin/recoveries` stores it; resolves to the recovery's id. */
export async function requestRecovery(
  road: Road,
  { endpoint, ratePerSecond }: { endpoint: MerchantEndpoint; ratePerSecond: number },
): Promise<string> {
  const id = newId();
  await queryOnce(
    road.infra.postgresUrl,
    `insert into webhook_dispatcher.recoveries
       (id, account_id, endpoint_id, statuses, created_from, created_until, rate_per_second, requested_by, fingerprint)
     values
       ($1, $2, $3, '{skipped}', now() - interval '1 hour', now() + interval '1 hour', $4, 'bench', '')`,
    [id, endpoint.accountId, endpoint.id, ratePerSecond],
  );
  return id;
}

/** How many deliveries a recovery has brought to their receivers, once it is over. */
export async function untilRecovered(road: Road, id: string): Promise<number> {
  let succeeded = 0;
  await until('the recovery', async () => {
    const [recovery] = await queryOnce<{ status: string; succeeded_count: number }>(
      road.infra.postgresUrl,
      'select status, succeeded_count from webhook_dispatcher.recoveries where id = $1',
      [id],
    );
    succeeded = recovery?.succeeded_count ?? 0;
    return recovery?.status === 'completed';
  });
  return succeeded;
}

async function countSkipped(road: Road, endpoint: MerchantEndpoint): Promise<number> {
  const [row] = await queryOnce<{ count: number }>(
    road.infra.postgresUrl,
    `select count(*)::int as count from webhook_dispatcher.deliveries
     where endpoint_id = $1 and status = 'skipped'`,
    [endpoint.id],
  );
  return row?.count ?? 0;
}

async function setActive(road: Road, endpoint: MerchantEndpoint, active: boolean): Promise<void> {
  const text = 'update webhook_dispatcher.endpoints set active = $2 where id = $1';
  await queryOnce(road.infra.postgresUrl, text, [endpoint.id, active]);
}
