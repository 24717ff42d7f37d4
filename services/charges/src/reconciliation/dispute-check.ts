import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import type { Database } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';
import { listReadablePages, unreadableBreaks } from '@pixmesh/reconciliation/list-pages';

import { disputeCommandId } from '#disputes/dispute-commands.ts';
import { KEPT_BLOCK_LOGGED_MS } from '#disputes/end-blocks.ts';

import {
  type ComparedDispute,
  findCreditedPix,
  listComparedDisputes,
  listKeptBlocks,
} from './dispute-check.sql.ts';
import { compareDispute } from './compare-dispute.ts';

/** No dispute changes after this long (decision 218). */
const HORIZON_MS = 120 * 86_400_000;
/** What the acquirer's clock may be ahead of ours: as far as its list is read (`disputes/dispute-list.sql.ts`). */
const AHEAD_MS = 2 * 86_400_000;
/** Disputes are rare: more of them than this would be a case by itself. */
const DISPUTES_MAX = 100_000;
/** What the acquirer does not answer for concerns few Pix, or all that it has lost. */
const KEPT_BLOCKS_MAX = 1_000;

export type DisputeCheckDeps = {
  db: Database;
  acquirer: Pick<Acquirer, 'listDisputes'>;
  ledger: Pick<LedgerReads, 'findJournals'>;
  /** How long the acquirer may take to return the money of a lost dispute. */
  returnWindowMs: number;
};

/**
 * Every infraction of a credited Pix is a dispute of ours, with its amount and state, and its block is booked. Left:
 * the acquirer; right: ours. All of them in every run: an infraction changes long after it was opened. A list with
 * items that cannot be read compares the others, and proves of none of ours that the acquirer does not have it. The
 * block of a lost dispute that does not end is a break of ours alone, however old the dispute is.
 */
export function disputeCheck(deps: DisputeCheckDeps): Check {
  return {
    name: 'dispute',
    run: async () => {
      const from = new Date(Date.now() - HORIZON_MS);
      const to = new Date(Date.now() + AHEAD_MS);
      const { items: listed, unreadable } = await listReadablePages(
        (page) => deps.acquirer.listDisputes(page),
        { from, to },
      );
      const ours = await listComparedDisputes(deps.db, from, DISPUTES_MAX);
      const credited = await findCreditedPix(
        deps.db,
        listed.map(({ endToEndId }) => endToEndId),
      );
      const byInfraction = new Map(ours.map((dispute) => [dispute.infractionId, dispute]));
      const listedIds = new Set(listed.map(({ id }) => id));
      const differing = [
        ...listed
          .filter(({ endToEndId }) => credited.has(endToEndId))
          .flatMap((theirs) => compareDispute(theirs, byInfraction.get(theirs.id) ?? null)),
        ...ours
          .filter(({ infractionId }) => unreadable.length === 0 && !listedIds.has(infractionId))
          .flatMap((dispute) => compareDispute(null, dispute)),
      ];
      // A dispute has one break of a kind: where its state differs from the acquirer's, that comes first.
      const stateDiffers = new Set(
        differing.filter(({ kind }) => kind === 'state').map(({ id }) => id),
      );
      const breaks = [
        ...differing,
        ...(await findUnbooked(deps, ours)),
        ...(await findKept(deps)).filter(({ id }) => !stateDiffers.has(id)),
        ...unreadableBreaks('dispute', unreadable),
      ];
      return { compared: listed.length, breaks };
    },
  };
}

/** A block that stands on an untouched Pix has moved its whole amount. */
async function findUnbooked(
  deps: DisputeCheckDeps,
  disputes: readonly ComparedDispute[],
): Promise<FoundBreak[]> {
  const standing = disputes.filter(({ block, isUntouched }) => block === 'standing' && isUntouched);
  const commandOf = (dispute: ComparedDispute) => disputeCommandId('dispute.block', dispute);
  const journals = await deps.ledger.findJournals(standing.map(commandOf));
  return standing
    .filter((dispute) => journals.get(commandOf(dispute))?.amount !== dispute.amount)
    .map(({ infractionId: id, amount: amountCents, changedAt }) => ({
      kind: 'unbooked',
      id,
      expected: String(amountCents),
      amountCents,
      changedAt,
    }));
}

/** A block of a lost dispute that outlives its time: whether the acquirer returned any of it cannot be read. */
async function findKept({ db, returnWindowMs }: DisputeCheckDeps): Promise<FoundBreak[]> {
  const lostForMs = returnWindowMs + KEPT_BLOCK_LOGGED_MS;
  const kept = await listKeptBlocks(db, { lostForMs, limit: KEPT_BLOCKS_MAX });
  return kept.map(({ infractionId: id, amount: amountCents, resolvedAt: changedAt }) => ({
    kind: 'state',
    id,
    expected: 'ended',
    found: 'standing',
    amountCents,
    changedAt,
  }));
}
