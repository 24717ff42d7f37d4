import type { PayoutStatus } from '@pixmesh/contracts/http/payout';
import { appendBatch } from '@pixmesh/postgres/batched-messages';
import type { Queryable } from '@pixmesh/postgres/pool';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';
import { createWriteBatcher, type WriteBatcher } from '@pixmesh/postgres/write-batcher';
import { currentTraceParent } from '@pixmesh/telemetry/tracing';

import { payoutEvents } from '#payouts/payout-events.ts';
import { isVisible, type PayoutRow, type VisiblePayout } from '#payouts/payout-row.ts';
import { PAYOUT_COLUMNS, type PayoutRecord, toPayoutRow } from '#payouts/payouts.sql.ts';
import { isStopped } from '#stops/in-force.sql.ts';

/** Intents that are committed together share a statement and its commit. */
export type IntentCommits = {
  /**
   * Makes a held intent the payout that it was meant to be, with `payment.pix.created` and its place in the queue, in
   * one statement. Null when the row is no such intent any more: another process has finished or dropped it.
   *
   * One that would be sent by itself waits for approval while payouts are stopped (decision 262). The statement that
   * would queue it asks for stops itself, so that none can come in between; most creations make no other.
   *
   * @param leaseMs where the caller holds a slot: the call is counted in the same statement, as a claim would, unless
   *   others of its account wait to be sent. When a check of it is due
   */
  commit(intent: PayoutRow, leaseMs: number | null): Promise<VisiblePayout | null>;
};

export function createIntentCommits(db: Queryable): IntentCommits {
  const queued = createCommitBatcher(db, QUEUED);
  const waiting = createCommitBatcher(db, WAITING);
  return {
    commit: async (intent, leaseMs) => {
      const commit = { intent, leaseMs, traceparent: currentTraceParent() };
      const made = intent.isAutomatic ? await queued.submit(commit) : null;
      return made ?? (await waiting.submit(commit));
    },
  };
}

type Commit = { intent: PayoutRow; leaseMs: number | null; traceparent: string | null };

/** What an intent becomes: in which status, with which columns of its sending, and where. */
type Target = { statement: string; status: PayoutStatus; sending: Statement; only: Statement };

const QUEUED: Target = {
  statement: 'commit_queued_intents',
  status: 'processing',
  sending: sql`
    send_at = case when not is_counted then now() end,
    unanswered_puts = case when is_counted then 1 else 0 end,
    first_put_at = case when is_counted then now() end,
    last_put_at = case when is_counted then now() end,
    check_at = case when is_counted then now() + lease_ms * interval '1 ms' end`,
  only: sql`not ${isStopped(sql`payouts.account_id`)}`,
};

/** The stop that an automatic payout has met may have ended since: its reason is shown all the same. */
const WAITING: Target = {
  statement: 'commit_waiting_intents',
  status: 'pending',
  sending: sql`
    check_at = null,
    pending_reason = case when is_automatic then (
      select 'payouts stopped: ' || stop.reason
      from payout_stops as stop
      where stop.account_id is null or stop.account_id = payouts.account_id
      order by stop.ended_at desc nulls first, stop.created_at
      limit 1
    ) end`,
  only: sql`true`,
};

function createCommitBatcher(
  db: Queryable,
  target: Target,
): WriteBatcher<Commit, VisiblePayout | null> {
  return createWriteBatcher((commits) => commitAs(db, commits, target));
}

/** Looks up by primary key, and by `payouts_send_at` whether an account has payouts that wait for a sender. */
async function commitAs(
  db: Queryable,
  commits: readonly Commit[],
  { statement, status, sending, only }: Target,
): Promise<(VisiblePayout | null)[]> {
  const rows = await db.query<PayoutRecord & { place: number }>(
    named(
      statement,
      sql`
        with intent as materialized (
          select *,
            lease_ms is not null and (
              select id from payouts where account_id = intent_account and send_at <= now() limit 1
            ) is null as is_counted
          from json_to_recordset(${JSON.stringify(commits.map(toIntent))}::json) as named (
            place int, intent_id uuid, intent_hold uuid, intent_account uuid, lease_ms int
          )
        ),
        moved as (
          update payouts
          set status = ${status},
              version = version + 1,
              event_sequence = event_sequence + 1,
              ${sending},
              due_at = null,
              checks = 0,
              lease_token = null,
              lease_until = null
          from intent
          where id = any(${commits.map(({ intent }) => intent.id)}::uuid[])
            and id = intent_id and hold_id = intent_hold and status = 'intent' and ${only}
          returning ${PAYOUT_COLUMNS}, place
        ),
        ${appendBatch(
          sql`select place from moved`,
          commits.map((commit, place) => toMessages(commit, place, status)),
        )}
        select * from moved`,
    ),
  );
  const made = new Map(rows.map((row) => [row.place, toPayoutRow(row)]));
  return commits.map((_commit, place) => {
    const row = made.get(place);
    return row !== undefined && isVisible(row) ? row : null;
  });
}

function toIntent({ intent, leaseMs }: Commit, place: number): object {
  return {
    place,
    intent_id: intent.id,
    intent_hold: intent.holdId,
    intent_account: intent.accountId,
    lease_ms: leaseMs,
  };
}

function toMessages({ intent, traceparent }: Commit, place: number, status: PayoutStatus) {
  const messages = payoutEvents({ ...intent, status }, ['payment.pix.created']);
  return { place, messages, traceparent };
}
