import { newId } from '@pixmesh/kernel/ids';
import type pg from 'pg';

import { withClient } from '../durable-server.ts';
import type { Road } from './bench-road.ts';
import { DISPATCHER_SCHEMA } from './dispatcher-process.ts';
import { sharedNowMs, writeMark } from './event-mark.ts';
import { EVENT_TYPE, type MerchantEndpoint } from './merchant-endpoints.ts';
import type { SentEvents } from './phase-record.ts';
import { nextPhase } from './run-open-loop.ts';

/** Lanes of receivers that failed and are tried again hours from now. */
const FUTURE_LANES = 5_000;

/**
 * Retries that wait for hours, over many lanes, as rows of the queue alone: nothing else of them is read before they
 * are due. And deliveries that are all due behind one receiver, whole but for a body, which they share.
 */
export async function storeWaiting(
  road: Road,
  input: { future: number; blocked: number; blockedEndpoint: MerchantEndpoint },
): Promise<void> {
  const { id: blockedLane, accountId } = input.blockedEndpoint;
  await inSchema(road, async (client) => {
    const eventId = await storeEvent(client, { accountId, body: '' });
    await client.query(
      `insert into queue (id, delivery_id, event_id, lane_id, for_resource_url, rank, attempt_count, due_at)
       select id, id, $1, md5('lane ' || number % $3)::uuid, false, 1, 1,
         now() + interval '2 hours' + random() * interval '12 hours'
       from (select gen_random_uuid() as id, number from generate_series(1, $2::int) as number) as new`,
      [eventId, input.future, FUTURE_LANES],
    );
    await client.query(
      `insert into queue (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url)
       select id, id, $1, $3, $3, false
       from (select uuidv7() as id from generate_series(1, $2::int)) as new`,
      [eventId, input.blocked, blockedLane],
    );
    await client.query(
      `insert into deliveries
         (id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id)
       select id, event_id, lane_id, $2, event_id, $3, lane_id, endpoint_id
       from queue
       where lane_id = $1`,
      [blockedLane, accountId, EVENT_TYPE],
    );
    await wakeLanes(client);
    await settle(client);
  });
}

/** Takes away whatever waits. */
export async function clearWaiting(road: Road): Promise<void> {
  await inSchema(road, async (client) => {
    await client.query('delete from queue');
    await settle(client);
  });
}

/** So that what a million writes leave behind them is not measured. */
async function settle(client: pg.Client): Promise<void> {
  await client.query('vacuum analyze queue');
  await client.query('checkpoint');
}

/** Retries that fall due one after the other over these endpoints, as the receivers will see them. */
export async function storeDueRetries(
  road: Road,
  input: {
    endpoints: readonly MerchantEndpoint[];
    perSecond: number;
    seconds: number;
    inSeconds: number;
  },
): Promise<SentEvents & { phase: string }> {
  const phase = nextPhase('retries-ours');
  const sent = input.perSecond * input.seconds;
  const perItemMs = 1000 / input.perSecond;
  const startMs = sharedNowMs() + input.inSeconds * 1000;
  await inSchema(road, async (client) => {
    await client.query('begin');
    for (let number = 0; number < sent; number += 1) {
      const endpoint = input.endpoints[number % input.endpoints.length];
      if (endpoint === undefined) throw new Error('no endpoints');
      const intendedMs = startMs + number * perItemMs;
      const body = `"reference":"${writeMark({ phase, number, intendedMs })}"`;
      const eventId = await storeEvent(client, { accountId: endpoint.accountId, body });
      await storeRetry(client, { eventId, endpoint, dueInMs: intendedMs - sharedNowMs() });
    }
    await wakeLanes(client);
    await client.query('commit');
  });
  return { phase, sent, schedule: { startMs, perItemMs }, hangingEvery: 0 };
}

/** Returns its id. The bodies of what never falls due are never read. */
async function storeEvent(
  client: pg.Client,
  { accountId, body }: { accountId: string; body: string },
): Promise<string> {
  const id = newId();
  await client.query(
    `insert into events (event_id, type, account_id, resource_id, source, sequence, occurred_at, body_rest)
     values ($1, $2, $3, $1, 'api', 1, now(), $4)`,
    [id, EVENT_TYPE, accountId, Buffer.from(`,"data":{${body}}}`)],
  );
  return id;
}

/** After a first attempt that failed, due so long from the database's own clock. */
async function storeRetry(
  client: pg.Client,
  { eventId, endpoint, dueInMs }: { eventId: string; endpoint: MerchantEndpoint; dueInMs: number },
): Promise<void> {
  const id = newId();
  await client.query(
    `insert into deliveries
       (id, event_id, destination_id, account_id, resource_id, event, lane_id, endpoint_id)
     values ($1, $2, $4, $3, $2, $5, $4, $4)`,
    [id, eventId, endpoint.accountId, endpoint.id, EVENT_TYPE],
  );
  await client.query(
    `insert into queue
       (id, delivery_id, event_id, lane_id, endpoint_id, for_resource_url, rank, attempt_count, due_at)
     values ($1, $1, $2, $3, $3, false, 1, 1, clock_timestamp() + $4::float8 * interval '1 millisecond')`,
    [id, eventId, endpoint.id, dueInMs],
  );
}

/** As the process that queues does: lanes that nobody serves can be taken once their first delivery is due. */
async function wakeLanes(client: pg.Client): Promise<void> {
  await client.query(
    `insert into lanes as lane (id, claimable_at)
     select lane_id, min(due_at) from queue group by lane_id
     on conflict (id) do update
     set claimable_at = least(lane.claimable_at, excluded.claimable_at)
     where not lane.leased`,
  );
}

async function inSchema(road: Road, work: (client: pg.Client) => Promise<void>): Promise<void> {
  await withClient(road.infra.postgresUrl, async (client) => {
    await client.query(`set search_path to ${DISPATCHER_SCHEMA}`);
    await work(client);
  });
}
