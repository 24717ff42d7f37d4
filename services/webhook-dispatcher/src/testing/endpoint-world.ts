import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { expect } from 'vitest';

import { deleteEndpoint, updateEndpoint } from '#endpoints/endpoints.sql.ts';
import { claimDeliveries, type ClaimedDelivery } from '#sending/claim-deliveries.sql.ts';
import { type AttemptOutcome, insertAttempts } from '#sending/record-outcomes.sql.ts';
import { nextStep } from '#sending/retry-schedule.ts';
import { withholdDeliveries } from '#sending/withhold-deliveries.sql.ts';

import { aChargeEvent } from './a-charge-event.ts';
import {
  patchEndpoint,
  removeStoredEndpoint,
  storeEndpoint,
  type StoredEndpoint,
} from './store-endpoint.ts';
import { take, type TurnableClock, turnableClock } from './test-sender.ts';

const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** One step of a merchant, of its receivers or of time. */
export type Step =
  | { kind: 'event'; url: string | null; happened: 'now' | 'long ago' }
  /** `cut`: by a process that dies right behind the first commit. */
  | { kind: 'pause' | 'resume' | 'delete'; endpoint: number; cut: boolean }
  | { kind: 'move'; endpoint: number; url: string }
  /** `lost`: the sender dies over the request. */
  | { kind: 'send'; outcome: 'succeeded' | 'failed' | 'lost' }
  | { kind: 'wait'; ms: number };

type Endpoint = StoredEndpoint & { deleted: boolean };

/** What is known of a delivery without a look at the tables. */
type Known = {
  resourceId: string;
  ownUrl: string | null;
  endpoint: Endpoint | null;
  forBoth: boolean;
  skipped: boolean;
  attempts: number;
  over: boolean;
  /** Database time before which no attempt may be made. */
  notBefore: number;
};

type Row = { id: string; endpoint_id: string | null; for_both: boolean; status: string };

/** One application with a few endpoints, and what the rules say of each of its deliveries. */
export type World = {
  db: Database;
  clock: TurnableClock;
  owner: { accountId: AccountId; applicationId: ApplicationId };
  endpoints: Endpoint[];
  deliveries: Map<string, Known>;
};

export async function aWorld(
  db: Database,
  setUp: readonly Pick<StoredEndpoint, 'url' | 'secret'>[],
): Promise<World> {
  const owner = { accountId: newId<AccountId>(), applicationId: newId<ApplicationId>() };
  const endpoints: Endpoint[] = [];
  for (const endpoint of setUp) {
    endpoints.push({ ...(await storeEndpoint(db, { ...owner, ...endpoint })), deleted: false });
  }
  return { db, clock: turnableClock(), owner, endpoints, deliveries: new Map() };
}

/** Takes a step by the service's own statements, and compares what they answer at once. */
export async function takeStep(world: World, step: Step): Promise<void> {
  if (step.kind === 'event') return await hear(world, step);
  if (step.kind === 'wait') return world.clock.advance(step.ms);
  if (step.kind === 'send') return void (await send(world, step.outcome));
  const endpoint = world.endpoints[step.endpoint];
  if (endpoint !== undefined && !endpoint.deleted) await change(world.db, endpoint, step);
}

/** Lets two days go by with receivers that answer, then compares how every delivery ended with what the rules say. */
export async function settle(world: World): Promise<void> {
  const { db, clock, owner, deliveries } = world;
  for (let day = 0; day < 2; day += 1) {
    clock.advance(24 * HOUR_MS);
    while ((await send(world, 'succeeded')) > 0);
  }
  const rows = await db.query<{ id: string; status: string; made: number }>(sql`
    select id, status, (select count(*)::int from attempts where delivery_id = id) as made
    from deliveries where account_id = ${owner.accountId}`);
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...deliveries.keys()].toSorted());
  for (const { id, status, made } of rows) {
    const delivery = known(world, id);
    expect([made, endsOf(delivery)]).toEqual([delivery.attempts, expect.arrayContaining([status])]);
  }
}

type EventStep = Extract<Step, { kind: 'event' }>;

async function hear(world: World, step: EventStep): Promise<void> {
  const { db, owner } = world;
  const sinceMs = step.happened === 'long ago' ? HOUR_MS : 0;
  const event = aChargeEvent({
    account_id: owner.accountId,
    application_id: owner.applicationId,
    url: step.url,
    occurred_at: new Date(Date.now() - sinceMs).toISOString(),
  });
  await take(db, event);
  const rows = await db.query<Row>(sql`
    select id, endpoint_id, for_resource_url as for_both, status
    from deliveries where event_id = ${event.event_id}`);
  expect(rows.map(toText).toSorted()).toEqual(audienceOf(world, step).map(toText).toSorted());
  for (const row of rows) {
    world.deliveries.set(row.id, {
      resourceId: event.data.id,
      ownUrl: step.url,
      endpoint: world.endpoints.find(({ id }) => id === row.endpoint_id) ?? null,
      forBoth: row.for_both,
      skipped: row.status === 'skipped',
      attempts: 0,
      over: false,
      notBefore: 0,
    });
  }
}

function audienceOf({ endpoints }: World, { url, happened }: EventStep): Omit<Row, 'id'>[] {
  const there = endpoints
    .filter(({ deleted }) => !deleted)
    .map((endpoint) => {
      const wasActive = endpoint.active || happened === 'long ago';
      return {
        endpoint_id: endpoint.id,
        for_both: wasActive && endpoint.url === url,
        status: wasActive ? 'pending' : 'skipped',
      };
    });
  if (url === null || there.some(({ for_both }) => for_both)) return there;
  return [...there, { endpoint_id: null, for_both: false, status: 'pending' }];
}

async function change(
  db: Database,
  endpoint: Endpoint,
  step: Extract<Step, { endpoint: number }>,
): Promise<void> {
  const { id } = endpoint;
  if (step.kind === 'move') {
    endpoint.url = step.url;
    return await patchEndpoint(db, endpoint, { url: step.url });
  }
  if (step.kind === 'delete') {
    endpoint.deleted = true;
    if (step.cut) await deleteEndpoint(db, endpoint, id);
    else await removeStoredEndpoint(db, endpoint);
    return;
  }
  endpoint.active = step.kind === 'resume';
  if (step.cut) await updateEndpoint(db, endpoint, { id, active: endpoint.active });
  else await patchEndpoint(db, endpoint, { active: endpoint.active });
}

/** A sender's turn; answers how many deliveries it met. */
async function send(world: World, outcome: 'succeeded' | 'failed' | 'lost'): Promise<number> {
  const { db, clock } = world;
  const bounds = { limit: 100, leaseMs: LEASE_MS, perLaneMax: 10 };
  const turn = await claimDeliveries(db, { clock, ...bounds, inFlight: new Map() });
  for (const claim of turn.claimed) expectRightful(claim, known(world, claim.id));
  if (outcome === 'lost') {
    for (const { id, claimedAt } of turn.claimed) {
      known(world, id).notBefore = claimedAt.getTime() + LEASE_MS;
    }
  } else {
    const made = turn.claimed.map((claim) => finish(claim, known(world, claim.id), outcome));
    expect((await insertAttempts(db, clock, made)).size).toBe(made.length);
  }
  return turn.claimed.length + (await withholdDeliveries(db, clock, turn.quietEndpointIds));
}

/** Nothing goes where it must not go, or before its time, or under another's secret. */
function expectRightful(claim: ClaimedDelivery, delivery: Known): void {
  const { endpoint, ownUrl, resourceId, forBoth, ...state } = delivery;
  const isOpen = endpoint !== null && endpoint.active && !endpoint.deleted;
  if (endpoint !== null && !forBoth) expect(isOpen).toBe(true);
  expect(claim.url).toBe(endpoint === null || forBoth ? ownUrl : endpoint.url);
  const isTheirs = isOpen && endpoint.secret !== null && (!forBoth || endpoint.url === ownUrl);
  expect(claim.secretOwnerId).toBe(isTheirs ? endpoint.id : resourceId);
  expect(state).toMatchObject({ skipped: false, over: false });
  expect(claim.attemptNumber).toBe(state.attempts + 1);
  expect(claim.claimedAt.getTime()).toBeGreaterThanOrEqual(state.notBefore);
}

function finish(
  claim: ClaimedDelivery,
  delivery: Known,
  outcome: 'succeeded' | 'failed',
): AttemptOutcome {
  const next = nextStep(claim.attemptNumber, outcome);
  const retryDelayMs = next.status === 'pending' ? next.delayMs : null;
  delivery.attempts = claim.attemptNumber;
  delivery.over = retryDelayMs === null;
  delivery.notBefore = claim.claimedAt.getTime() + (retryDelayMs ?? 0);
  return {
    deliveryId: claim.id,
    fence: claim.fence,
    startedAt: claim.claimedAt,
    durationMs: 1,
    outcome,
    status: outcome === 'succeeded' ? 200 : 500,
    error: null,
    responseExcerpt: null,
    address: null,
    nextStatus: next.status,
    retryDelayMs,
  };
}

function known({ deliveries }: World, id: string): Known {
  const found = deliveries.get(id);
  expect(found).toBeDefined();
  return found!;
}

function endsOf({ skipped, over, endpoint, forBoth }: Known): string[] {
  if (skipped) return ['skipped'];
  if (over) return ['succeeded', 'failed'];
  // What the resource itself asked to hear always ends in an attempt.
  if (endpoint === null || forBoth) return [];
  if (endpoint.deleted) return ['canceled'];
  return endpoint.active ? [] : ['pending'];
}

function toText({ endpoint_id, for_both, status }: Omit<Row, 'id'>): string {
  return `${endpoint_id ?? 'own URL'} ${status}${for_both ? ' for both' : ''}`;
}
