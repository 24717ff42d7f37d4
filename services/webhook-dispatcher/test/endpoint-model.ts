import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { expect } from 'vitest';

import type { DueDelivery } from '#attempts/due-delivery.ts';
import { type AttemptOutcome, recordOutcomes } from '#attempts/record-outcomes.sql.ts';
import { retryDelayMs } from '#attempts/retry-schedule.ts';
import { changeEndpoint } from '#endpoints/change-endpoint.ts';
import { removeEndpoint } from '#endpoints/remove-endpoint.ts';
import { cancelLanes } from '#lanes/cancel-lanes.sql.ts';
import { type ClaimedLane, claimLanes } from '#lanes/claim-lanes.sql.ts';
import { returnLanes, releaseLanes } from '#lanes/release-lanes.sql.ts';
import { fetchDue } from '#sending/fetch-due.sql.ts';

import { claimOptions } from './claim-options.ts';
import { aChargeEvent } from './a-charge-event.ts';
import { anApplication, applyChange, type TestApplication } from './an-application.ts';
import { endpointDeps, storeEndpoint, type StoredEndpoint } from './store-endpoint.ts';
import { take } from './store-event.ts';
import { type TurnableClock, turnableClock } from './test-sender.ts';

const LEASE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** More than a model has of either. */
const LANES_MAX = 1_000;
const PER_LANE_MAX = 100;
const REACTIVATED_AHEAD_MS = 60_000;

/** One step of a merchant, of its receivers or of time. */
export type Step =
  | { kind: 'event'; url: string | null; happened: 'now' | 'long ago' }
  /** `cut`: by a process that dies right behind the first commit. */
  | { kind: 'pause' | 'resume' | 'delete'; endpoint: number; cut: boolean }
  | { kind: 'move'; endpoint: number; url: string }
  | { kind: 'deactivate' | 'reactivate'; cut: boolean }
  /**
   * `lost`: the sender dies over the requests and owns their lanes until its leases end. `none`: it dies when it has
   * stored their outcomes. `return`: it stores them and returns its lanes.
   */
  | { kind: 'send'; outcome: Outcome; end: 'release' | 'none' | 'return' }
  | { kind: 'wait'; ms: number };

type Outcome = 'succeeded' | 'failed' | 'lost';

type Endpoint = StoredEndpoint & { deleted: boolean };

/** What the rules say of a delivery. */
type ExpectedDelivery = {
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

/** One application with a few endpoints, and its deliveries as the rules have them. */
export type Model = {
  db: Database;
  clock: TurnableClock;
  application: TestApplication;
  isApplicationActive: boolean;
  owner: { accountId: AccountId; applicationId: ApplicationId };
  endpoints: Endpoint[];
  deliveries: Map<string, ExpectedDelivery>;
};

export async function aModel(
  db: Database,
  setUp: readonly Pick<StoredEndpoint, 'url' | 'secret'>[],
): Promise<Model> {
  const application = anApplication();
  const { owner } = application;
  const endpoints: Endpoint[] = [];
  for (const endpoint of setUp) {
    endpoints.push({ ...(await storeEndpoint(db, { ...owner, ...endpoint })), deleted: false });
  }
  const model = { db, application, isApplicationActive: true, owner, endpoints };
  return { ...model, clock: turnableClock(), deliveries: new Map() };
}

/** Takes a step by the service's own statements, and compares what they answer at once. */
export async function takeStep(model: Model, step: Step): Promise<void> {
  if (step.kind === 'event') return await publish(model, step);
  if (step.kind === 'wait') return model.clock.advance(step.ms);
  if (step.kind === 'send') return void (await send(model, step));
  if (!('endpoint' in step)) return await changeApplication(model, step);
  const endpoint = model.endpoints[step.endpoint];
  if (endpoint !== undefined && !endpoint.deleted) await change(model, endpoint, step);
}

/** Lets two days go by with receivers that answer, then compares how every delivery ended with what the rules say. */
export async function runToEnd(model: Model): Promise<void> {
  const { db, clock, owner, deliveries } = model;
  for (let day = 0; day < 2; day += 1) {
    clock.advance(24 * HOUR_MS);
    while ((await send(model, { outcome: 'succeeded', end: 'release' })) > 0);
  }
  const rows = await db.query<{ id: string; status: string; made: number; waits: boolean }>(sql`
    select id, status,
      (select count(*)::int from attempts where delivery_id = deliveries.id) as made,
      exists (select from queue where queue.id = deliveries.id) as waits
    from deliveries where account_id = ${owner.accountId}`);
  expect(rows.map(({ id }) => id).toSorted()).toEqual([...deliveries.keys()].toSorted());
  for (const { id, status, made, waits } of rows) {
    const delivery = expectedOf(model, id);
    expect([made, expectedStatuses(model, delivery)]).toEqual([
      delivery.attempts,
      expect.arrayContaining([status]),
    ]);
    // What is pending waits somewhere, and nothing waits that is over.
    expect(waits).toBe(status === 'pending');
  }
}

type EventStep = Extract<Step, { kind: 'event' }>;

async function publish(model: Model, step: EventStep): Promise<void> {
  const { db, owner } = model;
  // In milliseconds times may be equal; what happens now happens after every change so far.
  const sinceMs = step.happened === 'long ago' ? HOUR_MS : -10;
  const event = aChargeEvent({
    account_id: owner.accountId,
    application_id: owner.applicationId,
    url: step.url,
    occurred_at: new Date(Date.now() - sinceMs).toISOString(),
  });
  await take(db, event, { scheduleClock: model.clock });
  const rows = await db.query<Row>(sql`
    select id, endpoint_id, for_resource_url as for_both, status
    from deliveries where event_id = ${event.event_id}`);
  expect(rows.map(toText).toSorted()).toEqual(expectedRows(model, step).map(toText).toSorted());
  for (const row of rows) {
    model.deliveries.set(row.id, {
      resourceId: event.data.id,
      ownUrl: step.url,
      endpoint: model.endpoints.find(({ id }) => id === row.endpoint_id) ?? null,
      forBoth: row.for_both,
      skipped: row.status === 'skipped',
      attempts: 0,
      over: false,
      notBefore: 0,
    });
  }
}

function expectedRows(
  { endpoints, isApplicationActive }: Model,
  { url, happened }: EventStep,
): Omit<Row, 'id'>[] {
  const there = endpoints
    .filter(({ deleted }) => !deleted)
    .map((endpoint) => {
      const wasActive = (endpoint.active && isApplicationActive) || happened === 'long ago';
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
  { db, clock }: Model,
  endpoint: Endpoint,
  step: Extract<Step, { endpoint: number }>,
): Promise<void> {
  const { id } = endpoint;
  const isCut = step.kind !== 'move' && step.cut;
  const deps = { ...endpointDeps(db, clock), db: isCut ? diesAfterCommit(db) : db };
  if (step.kind === 'delete') {
    endpoint.deleted = true;
    return await orDied(removeEndpoint(deps, endpoint, id));
  }
  if (step.kind === 'move') endpoint.url = step.url;
  else endpoint.active = step.kind === 'resume';
  const body = step.kind === 'move' ? { url: step.url } : { active: endpoint.active };
  await orDied(changeEndpoint(deps, endpoint, { id, readBody: () => body }).then(() => undefined));
}

type ApplicationStep = Extract<Step, { kind: 'deactivate' | 'reactivate' }>;

/** A reactivation is dated behind every event so far, so that none of them was missed. */
async function changeApplication(model: Model, { kind, cut }: ApplicationStep): Promise<void> {
  const { db, application } = model;
  const isActive = kind === 'reactivate';
  const aheadMs = isActive ? REACTIVATED_AHEAD_MS : 0;
  const change = application.change(isActive, new Date(Date.now() + aheadMs).toISOString());
  model.isApplicationActive = isActive;
  await orDied(applyChange(cut ? diesAfterCommit(db) : db, change).then(() => undefined));
}

/** The database of a process that dies right behind its first commit. */
function diesAfterCommit(db: Database): Database {
  let isDead = false;
  const dead = (): void => {
    if (isDead) throw new ProcessDied();
  };
  return {
    ...db,
    query: async (statement) => {
      dead();
      return await db.query(statement);
    },
    transaction: async (work) => {
      dead();
      const result = await db.transaction(work);
      isDead = true;
      return result;
    },
  };
}

class ProcessDied extends Error {}

async function orDied(work: Promise<void>): Promise<void> {
  await work.catch((error: unknown) => {
    if (!(error instanceof ProcessDied)) throw error;
  });
}

/** A sender's turn; answers how many deliveries it met. */
async function send(model: Model, step: Omit<SendStep, 'kind'>): Promise<number> {
  const { db, clock } = model;
  const options = claimOptions({ clock, limit: LANES_MAX, leaseMs: LEASE_MS });
  const lanes = await claimLanes(db, options);
  const requests = lanes.map(({ id }) => requestOf(id));
  const { due, deletedLaneIds } = await fetchDue(db, clock, requests);
  for (const delivery of due) verifyDue(model, delivery);
  const canceled = await cancelLanes(db, deletedLaneIds);
  if (step.outcome === 'lost') {
    // No sender may send these before the lease ends.
    for (const { deliveryId, fetchedAtMs } of due) {
      expectedOf(model, deliveryId).notBefore = fetchedAtMs + LEASE_MS;
    }
    return due.length + canceled;
  }
  const outcomes = due.map((delivery) =>
    finish(model, { delivery, lanes, outcome: step.outcome as Made }),
  );
  const stored = await recordOutcomes(db, clock, { outcomes, lanes: [] });
  expect(stored.size).toBe(outcomes.length);
  // Repeated after a lost answer, it changes nothing.
  if (outcomes.length > 0) await recordOutcomes(db, clock, { outcomes, lanes: [] });
  if (step.end === 'release') await releaseLanes(db, clock, lanes);
  if (step.end === 'return') await returnLanes(db, clock, lanes);
  return due.length + canceled;
}

type SendStep = Extract<Step, { kind: 'send' }>;
type Made = Exclude<Outcome, 'lost'>;

function requestOf(id: string) {
  return { id, take: PER_LANE_MAX, recovered: PER_LANE_MAX, wantsOther: true, inFlight: [] };
}

/** Its place, its time and its signature are those that the rules say. */
function verifyDue(model: Model, due: DueDelivery): void {
  const { endpoint, ownUrl, resourceId, forBoth, ...state } = expectedOf(model, due.deliveryId);
  const isOpen =
    endpoint !== null && endpoint.active && !endpoint.deleted && model.isApplicationActive;
  if (endpoint !== null && !forBoth) expect(isOpen).toBe(true);
  expect(due.url).toBe(endpoint === null || forBoth ? ownUrl : endpoint.url);
  // The resources of a model have no secret: what stands for both is signed with the endpoint's in any case.
  const isTheirs = endpoint !== null && endpoint.secret !== null;
  expect(due.secretOwnerId).toBe(isTheirs ? endpoint.id : resourceId);
  expect(state).toMatchObject({ skipped: false, over: false });
  expect(due.attemptNumber).toBe(state.attempts + 1);
  expect(due.fetchedAtMs).toBeGreaterThanOrEqual(state.notBefore - ROUNDING_MS);
}

/** Times in the queue are whole milliseconds. */
const ROUNDING_MS = 1;

function finish(
  model: Model,
  made: { delivery: DueDelivery; lanes: readonly ClaimedLane[]; outcome: Made },
): AttemptOutcome {
  const { delivery, lanes, outcome } = made;
  const state = expectedOf(model, delivery.deliveryId);
  const delayMs = outcome === 'failed' ? retryDelayMs(delivery.attemptNumber) : null;
  state.attempts = delivery.attemptNumber;
  state.over = delayMs === null;
  state.notBefore = delivery.fetchedAtMs + (delayMs ?? 0);
  return {
    attemptId: newId(),
    deliveryId: delivery.deliveryId,
    queueId: delivery.queueId,
    laneId: delivery.laneId,
    fence: lanes.find(({ id }) => id === delivery.laneId)!.fence,
    endpointId: delivery.endpointId,
    isResend: delivery.isResend,
    attemptNumber: delivery.attemptNumber,
    recoveryId: delivery.recoveryId,
    startedAt: new Date(delivery.fetchedAtMs),
    durationMs: 1,
    outcome,
    status: outcome === 'succeeded' ? 200 : 500,
    error: null,
    responseExcerpt: null,
    address: null,
    retryDelayMs: delayMs,
  };
}

function expectedOf({ deliveries }: Model, id: string): ExpectedDelivery {
  const found = deliveries.get(id);
  expect(found).toBeDefined();
  return found!;
}

function expectedStatuses(
  { isApplicationActive }: Model,
  { skipped, over, endpoint, forBoth }: ExpectedDelivery,
): string[] {
  if (skipped) return ['skipped'];
  if (over) return ['succeeded', 'failed'];
  // What goes to the resource's own URL always ends in an attempt.
  if (endpoint === null || forBoth) return [];
  if (endpoint.deleted) return ['canceled'];
  return endpoint.active && isApplicationActive ? [] : ['pending'];
}

function toText({ endpoint_id, for_both, status }: Omit<Row, 'id'>): string {
  return `${endpoint_id ?? 'own URL'} ${status}${for_both ? ' for both' : ''}`;
}
