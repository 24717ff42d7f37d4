import { AppError } from '@pixmesh/kernel/app-error';
import type { Database, Transaction } from '@pixmesh/postgres/pool';

import type { ChangeDeps } from '#callbacks/announce.ts';
import { conflict } from '#control/conflict.ts';
import { type HeldPix, holdReceivedPix } from '#pix/received-pix.sql.ts';
import { returnWithin } from '#refunds/return-pix.ts';
import { leftOf } from '#pix/return-resource.ts';

import { decideDispute, type DisputeAct } from './decide-dispute.ts';
import { natureOf, type StoredDispute } from './dispute-resource.ts';
import {
  findDispute,
  insertDispute,
  isSecondOpenDispute,
  storeDecision,
  storeDefense,
} from './disputes.sql.ts';

/** What goes back where a dispute is lost: by default all that is disputed, of the nature of its reason. */
export type LostTerms = { returnedCents: bigint | null; nature: string | null };

export type DisputeToOpen = LostTerms & {
  endToEndId: string;
  /** The whole Pix where null. */
  amountCents: bigint | null;
  reason: string;
  status: 'open' | 'under_review' | 'won' | 'lost';
  openedAt: Date | null;
};

/** A dispute with the Pix that it is about, both held by the transaction. */
type Held = { dispute: StoredDispute; pix: HeldPix };

/** Time that the receiver has for a defense. */
const DEFENSE_DAYS = 3;
const DAY_MS = 86_400_000;

/**
 * Somebody contests a received Pix. One that arrives decided is opened and decided in one transaction, so that no
 * list ever shows it open.
 * @throws AppError `NOT_FOUND` for an unknown Pix; `CONFLICT` where one is open, or for more than the Pix
 */
export async function openDispute(
  deps: ChangeDeps,
  opening: DisputeToOpen,
): Promise<StoredDispute> {
  try {
    const opened = await deps.db.transaction(async (tx) => {
      const pix = await holdReceivedPix(tx, opening.endToEndId);
      if (pix === null) throw new AppError('NOT_FOUND');
      const dispute = await insertOpen(tx, pix, opening);
      if (opening.status === 'lost') await decide(tx, deps, { dispute, pix, act: 'lose', opening });
      if (opening.status === 'won') await decide(tx, deps, { dispute, pix, act: 'win', opening });
      return await reload(tx, dispute.id);
    });
    deps.wakeCallbacks();
    return opened;
  } catch (error) {
    if (!isSecondOpenDispute(error)) throw error;
    throw conflict('Another dispute of this Pix is open.', error);
  }
}

/**
 * Decides a dispute, or lets the payer's side withdraw it. Safe to repeat.
 * @throws AppError `NOT_FOUND`, or `CONFLICT` where it stands otherwise
 */
export async function decideByHand(
  deps: ChangeDeps,
  id: string,
  order: { act: 'win' | 'lose' | 'withdraw'; terms: LostTerms },
): Promise<StoredDispute> {
  const decided = await deps.db.transaction(async (tx) => {
    const held = await holdDispute(tx, id);
    if (held === null) throw new AppError('NOT_FOUND');
    await decide(tx, deps, { ...held, act: order.act, opening: order.terms });
    return await reload(tx, id);
  });
  deps.wakeCallbacks();
  return decided;
}

/** The receiver's word against a dispute, and what came of it. */
export async function defendDispute(
  db: Database,
  id: string,
  defense: object,
): Promise<'received' | 'repeated' | 'conflict' | 'late' | 'not_found'> {
  return await db.transaction(async (tx) => {
    const held = await holdDispute(tx, id);
    if (held === null) return 'not_found';
    const decision = decideDispute(factsOf(held), 'defend');
    if (decision.kind === 'nothing') return 'repeated';
    if (decision.kind !== 'move') return decision.kind;
    await storeDefense(tx, { id, defense, at: held.pix.readAt });
    return 'received';
  });
}

async function insertOpen(
  tx: Transaction,
  pix: HeldPix,
  opening: DisputeToOpen,
): Promise<StoredDispute> {
  const amountCents = opening.amountCents ?? pix.amountCents;
  if (amountCents > pix.amountCents) throw conflict('The Pix is worth less than that.');
  const openedAt = opening.openedAt ?? pix.readAt;
  const id = await insertDispute(tx, {
    endToEndId: pix.endToEndId,
    amountCents,
    reason: opening.reason,
    status: opening.status === 'under_review' ? 'EM_DEFESA' : 'ABERTA',
    openedAt,
    deadlineAt: new Date(openedAt.getTime() + DEFENSE_DAYS * DAY_MS),
  });
  return await reload(tx, id);
}

/** The Pix first, since everything about one Pix takes turns on its row; then the dispute as it is now. */
async function holdDispute(tx: Transaction, id: string): Promise<Held | null> {
  const seen = await findDispute(tx, id);
  const pix = seen && (await holdReceivedPix(tx, seen.endToEndId));
  return pix && { dispute: await reload(tx, id), pix };
}

/** What is lost goes back as far as the Pix still has it. */
async function decide(
  tx: Transaction,
  deps: ChangeDeps,
  order: Held & { act: Exclude<DisputeAct, 'defend'>; opening: LostTerms },
): Promise<void> {
  const { dispute, pix, act, opening } = order;
  const decision = decideDispute(factsOf(order), act);
  if (decision.kind === 'nothing') return;
  if (decision.kind !== 'move') throw conflict(`The dispute is ${dispute.status}.`);
  const nature = act === 'lose' ? (opening.nature ?? natureOf(dispute.reason)) : null;
  const { status } = decision;
  await storeDecision(tx, { id: dispute.id, status, at: pix.readAt, nature });
  if (nature === null) return;
  const asked = opening.returnedCents ?? dispute.amountCents;
  const amountCents = least(asked, dispute.amountCents, leftOf(pix));
  if (amountCents === 0n) return;
  await returnWithin(tx, deps, { pix, made: { amountCents, nature, disputeId: dispute.id } });
}

function factsOf({ dispute, pix }: Held) {
  return {
    status: dispute.status,
    isDefended: dispute.defenseReceivedAt !== null,
    isLate: dispute.deadlineAt <= pix.readAt,
  };
}

async function reload(tx: Transaction, id: string): Promise<StoredDispute> {
  const dispute = await findDispute(tx, id);
  if (dispute === null) throw new AppError('INTERNAL_ERROR', { message: 'a dispute vanished' });
  return dispute;
}

function least(...amounts: [bigint, ...bigint[]]): bigint {
  return amounts.reduce((smallest, amount) => (amount < smallest ? amount : smallest));
}
