import type { AppError } from '@pixmesh/kernel/app-error';
import { violatedConstraint } from '@pixmesh/postgres/database-error';
import type { Database } from '@pixmesh/postgres/pool';

import { planCallbacks, toCallbackBody } from '#callbacks/plan-callbacks.ts';
import { conflict } from '#control/conflict.ts';
import type { Faults } from '#faults/faults.ts';

import { newEndToEndId } from './end-to-end-id.ts';
import { type Payments, paymentsWithin } from './payments.ts';
import { type StoredPix, toPixNotice } from './pix-resource.ts';

/** `notices` counts what was queued: nothing where the key has no webhook. */
export type PaidPix = { pix: StoredPix; repeated: boolean; notices: number };

/** A transaction in which a Pix arrives. */
export async function inArrival(
  db: Database,
  work: (payments: Payments) => Promise<PaidPix>,
): Promise<PaidPix> {
  return await refusingTaken(() => db.transaction(async (tx) => await work(paymentsWithin(tx))));
}

/** @throws AppError `CONFLICT` where another Pix takes the same end-to-end id first */
export async function refusingTaken(record: () => Promise<PaidPix>): Promise<PaidPix> {
  try {
    return await record();
  } catch (error) {
    if (violatedConstraint(error) !== 'received_pix_pkey') throw error;
    throw endToEndIdTaken(error);
  }
}

/**
 * Records a Pix, unless it is only repeated, and queues a notice each time that it is announced, as if nothing of it
 * had gone back yet.
 */
export async function recordArrival(
  payments: Payments,
  { pix, repeated }: { pix: StoredPix; repeated: boolean },
  announced: { pixKey: string; times: number; faults: Faults },
): Promise<PaidPix> {
  const item = toPixNotice({ ...pix, returns: [] });
  const body = toCallbackBody([item]);
  const items = Array.from({ length: announced.times }, () => item);
  const planned = planCallbacks(await announced.faults.pickCallbacks(items));
  const notices = planned.map((notice) => ({ ...notice, body }));
  const announce = { pixKey: announced.pixKey, notices };
  const queued = repeated
    ? await payments.repeat(announce)
    : await payments.record({ pix, announce });
  return { pix, repeated, notices: queued };
}

/** A Pix that is new: settled now and under an id of its own, unless its payer says otherwise. */
export function newPix(
  said: { endToEndId: string | null; paidAt: Date | null },
  pix: Omit<StoredPix, 'endToEndId' | 'paidAt' | 'returns'>,
  now: Date,
): StoredPix {
  const paidAt = said.paidAt ?? now;
  return { ...pix, endToEndId: said.endToEndId ?? newEndToEndId(paidAt), paidAt, returns: [] };
}

export function endToEndIdTaken(cause?: unknown): AppError {
  return conflict('Another Pix has this end-to-end id.', cause);
}
