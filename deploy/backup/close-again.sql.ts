import type { Transaction } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import type { AuditExport } from './audited-states.ts';

/** Ids of what was open. */
export type ClosedIds = {
  keys: string[];
  operators: string[];
  accounts: string[];
  /** Accounts whose payouts are stopped again. */
  stops: string[];
  applications: string[];
};

type Row = { id: string };

/** Closes what was closed, and nothing else; a repeat changes nothing. */
export async function closeAgain(
  tx: Transaction,
  closed: AuditExport['closed'],
): Promise<ClosedIds> {
  const keys = await tx.query<Row>(sql`
    update gateway.api_keys as key
    set revoked_at = coalesce(key.revoked_at, state.revoked_at),
      suspended = key.suspended or state.suspended,
      expires_at = least(key.expires_at, state.expires_at)
    from json_to_recordset(${JSON.stringify(closed.keys)}::json)
      as state(id uuid, revoked_at timestamptz, suspended boolean, expires_at timestamptz)
    where key.id = state.id and (
      (key.revoked_at is null and state.revoked_at is not null)
      or (not key.suspended and state.suspended)
      or least(key.expires_at, state.expires_at) is distinct from key.expires_at
    )
    returning key.id`);
  const operators = await tx.query<Row>(sql`
    update gateway.operators as operator
    set removed_at = state.removed_at
    from json_to_recordset(${JSON.stringify(closed.operators)}::json)
      as state(id uuid, removed_at timestamptz)
    where operator.id = state.id and operator.removed_at is null
    returning operator.id`);
  const accounts = await tx.query<Row>(sql`
    update gateway.accounts as account
    set status = case state.status when 'inactive' then 'inactive' else account.status end,
      onboarding_status = case
        when account.onboarding_status = 'approved' or state.onboarding_status = 'rejected' then state.onboarding_status
        else account.onboarding_status
      end,
      payouts_enabled = account.payouts_enabled and state.payouts_enabled,
      auto_payout_enabled = account.auto_payout_enabled and state.auto_payout_enabled
    from json_to_recordset(${JSON.stringify(closed.accounts)}::json) as state(
      id uuid, status text, onboarding_status text, payouts_enabled boolean, auto_payout_enabled boolean
    )
    where account.id = state.id and (
      (account.status <> 'inactive' and state.status = 'inactive')
      or (account.onboarding_status = 'approved' and state.onboarding_status <> 'approved')
      or (account.onboarding_status <> 'rejected' and state.onboarding_status = 'rejected')
      or (account.payouts_enabled and not state.payouts_enabled)
      or (account.auto_payout_enabled and not state.auto_payout_enabled)
    )
    returning account.id`);
  // No stop is set for an account that has one, and none that has ended since is set once more.
  const stops = await tx.query<Row>(sql`
    insert into payouts.payout_stops (id, account_id, reason, set_by, created_at)
    select stop_id, id, reason, set_by, created_at
    from json_to_recordset(${JSON.stringify(closed.stops)}::json)
      as state(id uuid, stop_id uuid, reason text, set_by text, created_at timestamptz)
    on conflict do nothing
    returning account_id as id`);
  // With the next version of its state, which reconciliation announces to the dispatcher.
  const applications = await tx.query<Row>(sql`
    update gateway.applications as application
    set active = false, version = application.version + 1
    from json_to_recordset(${JSON.stringify(closed.applications)}::json) as state(id uuid)
    where application.id = state.id and application.active
    returning application.id`);
  return {
    keys: keys.map(idOf),
    operators: operators.map(idOf),
    accounts: accounts.map(idOf),
    stops: stops.map(idOf),
    applications: applications.map(idOf),
  };
}

const idOf = ({ id }: Row): string => id;

/** Entries of the audit log that the restored database lacks; answers them. */
export async function addEntries(
  tx: Transaction,
  { entries }: Pick<AuditExport, 'entries'>,
): Promise<{ action: string; target_id: string }[]> {
  return await tx.query(sql`
    insert into gateway.audit_log
      (id, actor, action, target_kind, target_id, digest_before, digest_after, client_address, created_at)
    select id, actor, action, target_kind, target_id, decode(digest_before, 'hex'), decode(digest_after, 'hex'),
      client_address, created_at
    from json_to_recordset(${JSON.stringify(entries)}::json) as entry(
      id uuid, actor text, action text, target_kind text, target_id text, digest_before text, digest_after text,
      client_address text, created_at timestamptz
    )
    on conflict (id) do nothing
    returning action, target_id`);
}

/** Money out stays stopped, of all accounts, until an operator resumes it; answers whether it was not before. */
export async function stopPayouts(
  tx: Transaction,
  stop: { id: string; reason: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    insert into payouts.payout_stops (id, account_id, reason, set_by)
    values (${stop.id}, null, ${stop.reason}, 'restore')
    on conflict (account_id) where ended_at is null do nothing
    returning id`);
  return rows.length === 1;
}
