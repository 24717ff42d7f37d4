import type { Acquirer, AcquirerDispute } from '@pixmesh/acquirer/acquirer';
import { describeUnreadable } from '@pixmesh/acquirer/describe-unreadable';

import { applyInfraction, type ApplyDeps, findChanged } from './apply-infraction.ts';
import { endRun, renewRun, type DisputeListRun } from './dispute-list.sql.ts';
import { endBlocks } from './end-blocks.ts';
import { confirmDefenses } from './confirm-defenses.ts';

/**
 * Pages of one run. A longer list, which only a bug or an attack would cause, is read from its first page again.
 */
const PAGES_MAX = 1_000;
/** Pix whose infractions are applied at the same time. Each mostly waits for the acquirer or the database. */
const PIX_AT_ONCE = 8;

export type ReadDisputesDeps = ApplyDeps & {
  acquirer: Pick<Acquirer, 'listDisputes' | 'submitDefense'>;
  intervalMs: number;
  /** For one page, or one block; a replica that dies in a run is followed after this. */
  leaseMs: number;
};

/**
 * One run over the acquirer's infractions: no callback announces them (decision 218). All pages are applied, in the
 * order in which they were opened; what cannot be applied yet keeps the window open, and so does an item that cannot be
 * read, of which not even its opening is known.
 */
export async function readDisputes(deps: ReadDisputesDeps, run: DisputeListRun): Promise<void> {
  let waitingFrom: Date | null = null;
  let isComplete = false;
  let isReadable = true;
  try {
    // First, because it does not need the list: one that cannot be read must not keep money blocked.
    const renewLease = async () => await renewRun(deps.db, run, deps.leaseMs);
    if (!(await endBlocks(deps, renewLease))) return;
    for (let page = 0; page < PAGES_MAX && !isComplete; page += 1) {
      const listed = await deps.acquirer.listDisputes({ ...run, page });
      if (listed.kind === 'unknown') {
        deps.logger.warn({ cause: listed.cause }, 'infraction list: acquirer unavailable');
        return;
      }
      if (listed.unreadable.length > 0) {
        isReadable = false;
        const fields = describeUnreadable(page, listed.unreadable);
        deps.logger.error(fields, 'infraction list: unreadable items');
      }
      await confirmDefenses(deps, listed.items, run.startedAt);
      const waiting = await applyAll(deps, await findChanged(deps.db, listed.items));
      waitingFrom = earlier(waitingFrom, waiting);
      isComplete = !listed.hasMore;
      if (!(await renewLease())) return;
    }
  } finally {
    await endRun(deps.db, run, {
      isListed: isComplete,
      isComplete: isComplete && isReadable,
      waitingFrom,
      nextInMs: deps.intervalMs,
    });
  }
}

/** Several Pix at once, and the infractions of one Pix in their order. */
async function applyAll(
  deps: ReadDisputesDeps,
  infractions: readonly AcquirerDispute[],
): Promise<Date | null> {
  const byPix = Map.groupBy(infractions, ({ endToEndId }) => endToEndId);
  const coming = byPix.values();
  let waitingFrom: Date | null = null;
  await Promise.all(Array.from({ length: PIX_AT_ONCE }, applyComing));
  return waitingFrom;

  async function applyComing(): Promise<void> {
    for (const ofOnePix of coming) {
      for (const infraction of ofOnePix) {
        if ((await applySafely(deps, infraction)) === 'waiting') {
          waitingFrom = earlier(waitingFrom, infraction.openedAt);
        }
      }
    }
  }
}

/** One infraction that cannot be applied does not block the others (decision 216). */
async function applySafely(
  deps: ReadDisputesDeps,
  infraction: AcquirerDispute,
): Promise<'done' | 'waiting'> {
  try {
    return await applyInfraction(deps, infraction);
  } catch (error) {
    deps.logger.error({ err: error, infraction_id: infraction.id }, 'infraction not applied');
    return 'waiting';
  }
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
