import type { AcquirerPayout } from '@pixmesh/acquirer/acquirer';
import { type FoundBreak, NEVER_IN_FLIGHT } from '@pixmesh/reconciliation/check';

import type { ComparedPayout } from './compared-payouts.sql.ts';

/** One order as the acquirer and as we know it. */
export type PairedSend = { theirs: AcquirerPayout | null; ours: ComparedPayout | null };

/** What a payout is, once an order has this status. */
const EXPECTED = { processing: 'processing', settled: 'completed', rejected: 'failed' } as const;

/** The differences of one order; none when both sides agree, or none can know of it. */
export function compareSend({ theirs, ours }: PairedSend): FoundBreak[] {
  if (theirs === null) return ours === null || !isKnownToAcquirer(ours) ? [] : [missingLeft(ours)];
  if (ours === null) return missingRight(theirs);
  return [...compareMoney(theirs, ours), ...compareState(theirs, ours)];
}

function compareMoney(theirs: AcquirerPayout, ours: ComparedPayout): FoundBreak[] {
  const breaks: FoundBreak[] = [];
  const at = { id: ours.id, changedAt: NEVER_IN_FLIGHT };
  if (theirs.amountCents !== ours.amount) {
    const [expected, found] = [String(ours.amount), String(theirs.amountCents)];
    breaks.push({
      kind: 'amount',
      ...at,
      accountId: ours.accountId,
      expected,
      found,
      amountCents: theirs.amountCents - ours.amount,
    });
  }
  const mustKnow = ours.status === 'completed';
  if ((mustKnow || ours.endToEndId !== null) && ours.endToEndId !== theirs.endToEndId) {
    const [expected, found] = [theirs.endToEndId, ours.endToEndId];
    breaks.push({ kind: 'end_to_end_id', ...at, expected, found, amountCents: ours.amount });
  }
  return breaks;
}

/**
 * A contradiction stays a break although its money stands in suspense: an operator has to act (decision 120). So does
 * one that the acquirer takes back: what was booked for it stands in suspense, or was accepted, and moved at no
 * acquirer.
 */
function compareState(theirs: AcquirerPayout, ours: ComparedPayout): FoundBreak[] {
  const expected = EXPECTED[theirs.status];
  const found = ours.status === expected ? ours.contradiction : ours.status;
  if (found === null) return [];
  const { id, amount: amountCents } = ours;
  return [{ kind: 'state', id, expected, found, amountCents, changedAt: theirs.settledAt }];
}

/** A payout that ended, or was accepted, stands at the acquirer for ever; one that was refused never did. */
export function isKnownToAcquirer(ours: ComparedPayout): boolean {
  return ours.status === 'completed' || (ours.status === 'processing' && ours.processedAt !== null);
}

function missingLeft(ours: ComparedPayout): FoundBreak {
  const { id, status: expected, amount: amountCents, processedAt: changedAt } = ours;
  return { kind: 'missing_left', id, expected, amountCents, changedAt };
}

/** An order that no payout explains; a rejected one has moved nothing. */
function missingRight(theirs: AcquirerPayout): FoundBreak[] {
  if (theirs.status === 'rejected') return [];
  const { amountCents, requestedAt: changedAt } = theirs;
  return [
    { kind: 'missing_right', id: idOfSend(theirs), found: theirs.status, amountCents, changedAt },
  ];
}

/** How a send is named that names no payout of ours. */
function idOfSend(theirs: AcquirerPayout): string {
  return theirs.idEnvio ?? theirs.endToEndId;
}

/**
 * Returns of a payout's money that we have not recorded, or with another amount (decision 128), and recorded ones that
 * the acquirer does not show as carried out.
 *
 * @param recorded those of the payout, by return id
 */
export function compareReturns(
  theirs: AcquirerPayout,
  recorded: ReadonlyMap<string, bigint>,
): FoundBreak[] {
  const shown = new Map(
    theirs.returns
      .filter(({ status }) => status === 'returned')
      .map((item) => [item.returnId ?? item.id, item.amountCents]),
  );
  return [...new Set([...shown.keys(), ...recorded.keys()])].flatMap((returnId): FoundBreak[] => {
    const id = `${theirs.endToEndId}:${returnId}`;
    const [expected, found] = [shown.get(returnId), recorded.get(returnId)];
    if (expected === found) return [];
    if (found === undefined) return [{ kind: 'missing_right', id, ...ofCents({ expected }) }];
    if (expected === undefined) return [{ kind: 'missing_left', id, ...ofCents({ found }) }];
    const amountCents = found - expected;
    return [{ kind: 'amount', id, ...ofCents({ expected, found }), amountCents }];
  });
}

/**
 * Whether a check books the return that is missing: what it would refuse waits for an operator, and is not asked for.
 */
export function isBookable(
  { kind, amountCents }: FoundBreak,
  ours: ComparedPayout,
  recorded: ReadonlyMap<string, bigint>,
): boolean {
  const total = [...recorded.values()].reduce((sum, amount) => sum + amount, amountCents ?? 0n);
  return kind === 'missing_right' && ours.contradiction === null && total <= ours.amount;
}

/** Amounts as a break shows them; of one that stands alone it is about all of it. */
function ofCents({ expected, found }: { expected?: bigint | undefined; found?: bigint }) {
  return {
    expected: expected === undefined ? null : String(expected),
    found: found === undefined ? null : String(found),
    amountCents: expected ?? found ?? null,
  };
}
