import type { SuspenseAction } from '@pixmesh/contracts/internal/suspense';
import type { ChargeId, DisputeId, HoldId, RefundId } from '@pixmesh/kernel/ids';
import { named, sql, type Statement } from '@pixmesh/postgres/sql';

import type { StoredStatus } from '#charge/charge-row.ts';
import type { Cause } from '#charge/transitions.ts';
import type { RefundRow } from '#refunds/refund-row.ts';
import type { Resolution } from '#suspense/resolutions.sql.ts';

/** A change of a charge as its history has it. */
export type ChargeMove = {
  version: number;
  at: Date;
  from_status: StoredStatus | null;
  to_status: StoredStatus;
  cause: Cause;
  detail: string | null;
};

export type RefundSteps = {
  id: RefundId;
  hold_id: HoldId;
  amount: bigint;
  status: RefundRow['status'];
  created_at: Date;
  ended_at: Date | null;
};

export type DisputeSteps = { id: DisputeId; amount: bigint };

/** A return of a Pix of the charge, as recorded. */
export type ReturnSteps = { end_to_end_id: string; return_id: string };

export type ResolutionSteps = {
  id: string;
  action: SuspenseAction;
  amount: bigint;
  status: Resolution['status'];
  created_at: Date;
  completed_at: Date | null;
};

/** Reads `charge_history_pkey`, in the order in which the charge moved. */
export function movesStatement(chargeId: ChargeId, limit: number): Statement {
  return named(
    'list_charge_moves',
    sql`
      select version, at, from_status, to_status, cause, detail
      from charge_history
      where charge_id = ${chargeId}
      order by version
      limit ${limit}`,
  );
}

/** Intents too: a hold may have been taken for one. Reads `refunds_charge`, oldest first. */
export function refundsStatement(chargeId: ChargeId, limit: number): Statement {
  return named(
    'list_charge_refunds',
    sql`
      select id, hold_id, amount, status, created_at, ended_at
      from refunds
      where charge_id = ${chargeId}
      order by created_at, id
      limit ${limit}`,
  );
}

/** Reads `disputes_charge`. */
export function disputesStatement(chargeId: ChargeId, limit: number): Statement {
  return named(
    'list_charge_disputes',
    sql`select id, amount from disputes where charge_id = ${chargeId} limit ${limit}`,
  );
}

/** Every Pix that was received for the charge. Reads `received_pix_charge`. */
export function receivedStatement(chargeId: ChargeId, limit: number): Statement {
  return named(
    'list_charge_received_pix',
    sql`select end_to_end_id from received_pix where charge_id = ${chargeId} limit ${limit}`,
  );
}

/** What went back of the charge's Pix. Reads `pix_returns_charge`. */
export function returnsStatement(chargeId: ChargeId, limit: number): Statement {
  return named(
    'list_charge_returns',
    sql`select end_to_end_id, return_id from pix_returns where charge_id = ${chargeId} limit ${limit}`,
  );
}

/** What was decided of items in suspense and stands. Reads `suspense_resolutions_item`, which has no failed one. */
export function resolutionsStatement(itemIds: readonly string[], limit: number): Statement {
  return named(
    'timeline_resolutions',
    sql`
      select id, action, amount, status, created_at, completed_at
      from suspense_resolutions
      where item_id = any (${itemIds}::uuid[]) and status <> 'failed'
      limit ${limit}`,
  );
}
