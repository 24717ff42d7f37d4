import { EVENT_NAMES } from '@pixmesh/contracts/events/event-catalogue';
import { type DeliveryStatus, TEST_EVENT } from '@pixmesh/contracts/internal/operator-deliveries';
import { allOf, type ListPage } from '@pixmesh/postgres/newest-first';
import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

import { smallestIdOf } from './id-of-instant.ts';
import {
  describeDeliveries,
  LAST_ID,
  readDescribed,
  type StoredDelivery,
} from './describe-deliveries.sql.ts';

export type LogFilters = {
  accountId?: string | undefined;
  resourceId?: string | undefined;
  endpointId?: string | undefined;
  event?: string | undefined;
  status?: DeliveryStatus | undefined;
  /** Strict bounds on the time of the event, which is the one inside the ids. */
  createdAfter?: Date | undefined;
  createdBefore?: Date | undefined;
};

/** Every event that a delivery may be of; `deliveries_account` is one range per account and event. */
const DELIVERED_EVENTS: readonly string[] = [...EVENT_NAMES, TEST_EVENT];

/** One page of the delivery log, newest first, each delivery with all its attempts. */
export async function listLog(
  db: Queryable,
  filters: LogFilters,
  page: ListPage,
): Promise<StoredDelivery[]> {
  return await readDescribed(db, logStatement(filters, page));
}

/** The delivery under an id; null when there is none. */
export async function findDelivery(db: Queryable, id: string): Promise<StoredDelivery | null> {
  const chosen = sql`select * from deliveries where deliveries.id = ${id}`;
  const [delivery] = await readDescribed(db, describeDeliveries(chosen));
  return delivery ?? null;
}

/** Whether a cursor names a delivery that such a list shows; filters do not matter (decision 94). */
export async function deliveryExists(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(sql`select id from deliveries where id = ${id}`);
  return rows.length === 1;
}

/**
 * The statement of a page, apart so that tests explain its plan; without a name, because its text follows from the
 * filters. Each choice of filters walks along one index from the newest row on, and takes no lock. What is left of the
 * filters narrows the walk: a resource has some dozens of deliveries, what did not arrive is little, what is pending is
 * no more than the queue.
 */
export function logStatement(filters: LogFilters, page: ListPage): Statement {
  return describeDeliveries(pageOfLog(filters, page));
}

function pageOfLog(filters: LogFilters, { limit, startingAfter }: ListPage): Statement {
  const { resourceId, endpointId, accountId, event, status } = filters;
  const search = { filters, span: spanOf(filters, startingAfter), limit };
  if (resourceId !== undefined) return walk(search);
  if (status === 'pending') return pageOfPending(search);
  if (isUnsent(status)) return pageOfUnsent(search);
  if (event !== undefined) return pageOfEvent(search, event);
  if (endpointId !== undefined || accountId === undefined) return walk(search);
  return pageOfAccount(search, accountId);
}

type Search = { filters: LogFilters; span: Span; limit: number };

/** One range of an index that ends with the id, or of the ids themselves. */
function walk({ filters, span, limit }: Search): Statement {
  return sql`
        select *
        from deliveries
        where ${allOf(isWithin(span), ...conditionsOf(filters))}
        order by id desc
        ${first(limit)}`;
}

function pageOfUnsent(search: Search): Statement {
  const { accountId, endpointId } = search.filters;
  if (endpointId !== undefined) {
    const condition = sql`endpoint_id is not null`;
    return rangeOf(search, { ...BY_ENDPOINT, of: sql`${endpointId}::uuid`, condition });
  }
  if (accountId === undefined) return walk(search);
  return rangeOf(search, { ...BY_ACCOUNT, of: sql`${accountId}::uuid` });
}

/** An endpoint's deliveries of one event are among those of its account. */
function pageOfEvent(search: Search, event: string): Statement {
  const { accountId, endpointId } = search.filters;
  if (accountId !== undefined) {
    return rangeOf(search, { ...BY_ACCOUNT, of: sql`${accountId}::uuid` });
  }
  if (endpointId !== undefined) {
    const of = sql`(select account_id from endpoints where endpoints.id = ${endpointId})`;
    return rangeOf(search, { ...BY_ACCOUNT, of });
  }
  return rangeOf(search, { ...BY_EVENT, of: sql`${event}::text` });
}

/** An account's deliveries of each event are in order by themselves: at most a page is read of each. */
function pageOfAccount(search: Search, accountId: string): Statement {
  const condition = sql`event = slice.event`;
  const range = rangeOf(search, { ...BY_ACCOUNT, of: sql`${accountId}::uuid`, condition });
  return sql`
        select page_of_event.*
        from unnest(${DELIVERED_EVENTS}::text[]) as slice (event)
        cross join lateral (${range}) page_of_event
        order by id desc
        ${first(search.limit)}`;
}

const BY_ACCOUNT = {
  name: 'accountId',
  key: sql`(account_id, id)`,
  newestFirst: sql`account_id desc, id desc`,
};
const BY_ENDPOINT = {
  name: 'endpointId',
  key: sql`(endpoint_id, id)`,
  newestFirst: sql`endpoint_id desc, id desc`,
};
const BY_EVENT = { name: 'event', key: sql`(event, id)`, newestFirst: sql`event desc, id desc` };

type IndexRange = {
  /** The filter that the first part of the key stands for. */
  name: string;
  key: Statement;
  newestFirst: Statement;
  /** The first part of the key. */
  of: Statement;
  condition?: Statement;
};

/**
 * One range of an index, from its end on. Bounds and order name both columns of the key, so that no other index gives
 * this order, whatever the planner believes of the filters. The bounds on the ids alone leave partitions out.
 */
function rangeOf(
  { filters, span, limit }: Search,
  { name, key, newestFirst, of, condition = sql`true` }: IndexRange,
): Statement {
  // With an equality the planner drops that column from the order, and takes other indexes.
  const others = { ...filters, [name]: undefined };
  const isInRange = sql`
          ${key} >= (${of}, ${span.from}::uuid)
          and ${key} < (${of}, ${span.until}::uuid)`;
  return sql`
        select *
        from deliveries
        where ${allOf(isInRange, isWithin(span), condition, ...conditionsOf(others))}
        order by ${newestFirst}
        ${first(limit)}`;
}

/** What has an attempt of its own to come has a row under its own id in the queue, which is short. */
function pageOfPending({ filters, span, limit }: Search): Statement {
  const { endpointId } = filters;
  const isWaiting = endpointId === undefined ? sql`true` : sql`endpoint_id = ${endpointId}`;
  return sql`
        select delivery.*
        from (
          select id
          from queue
          where ${allOf(sql`id = delivery_id`, isWithin(span), isWaiting)}
          order by id desc
        ) waiting
        cross join lateral (
          select *
          from deliveries
          where ${allOf(sql`deliveries.id = waiting.id`, ...conditionsOf(filters))}
          offset 0
        ) delivery
        order by waiting.id desc
        ${first(limit)}`;
}

/** Bounds of ids, the second exclusive: what lies outside of them is in partitions that are not read. */
type Span = { from: string; until: string };

function spanOf({ createdAfter, createdBefore }: LogFilters, startingAfter: string | null): Span {
  const before = createdBefore === undefined ? LAST_ID : smallestIdOf(createdBefore.getTime());
  return {
    from: smallestIdOf(createdAfter === undefined ? 0 : createdAfter.getTime() + 1),
    until: startingAfter !== null && startingAfter < before ? startingAfter : before,
  };
}

function isWithin({ from, until }: Span): Statement {
  return sql`id >= ${from}::uuid and id < ${until}::uuid`;
}

function conditionsOf(filters: LogFilters): Statement[] {
  const { accountId, resourceId, endpointId, event, status } = filters;
  return [
    accountId === undefined ? null : sql`deliveries.account_id = ${accountId}`,
    resourceId === undefined ? null : sql`deliveries.resource_id = ${resourceId}`,
    endpointId === undefined ? null : sql`deliveries.endpoint_id = ${endpointId}`,
    event === undefined ? null : sql`deliveries.event = ${event}`,
    status === undefined ? null : hasStatus(status),
  ].filter((condition) => condition !== null);
}

/** The status is in no index; `unsent` says the same of what was not sent, and is (ADR 0035). */
function hasStatus(status: DeliveryStatus): Statement {
  return isUnsent(status) ? sql`deliveries.unsent = ${status}` : sql`deliveries.status = ${status}`;
}

function isUnsent(status: DeliveryStatus | undefined): boolean {
  return status === 'failed' || status === 'skipped' || status === 'canceled';
}

/** As a subquery: with the number at hand the planner walks all rows by their ids. */
function first(limit: number): Statement {
  return sql`limit (select ${limit}::int)`;
}
