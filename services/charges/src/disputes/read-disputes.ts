import type { Acquirer, AcquirerDispute } from '@pixmesh/acquirer/client';

import { applyInfraction, type ApplyDeps, findNews } from './apply-infraction.ts';
import { endReading, type Reading } from './dispute-list.sql.ts';
import { endBlocks } from './end-blocks.ts';

/** Pages of one reading; what lies beyond is read from its start again, by a bug or a flood. */
const PAGES_MAX = 1_000;

export type ReadDisputesDeps = ApplyDeps & {
  acquirer: Pick<Acquirer, 'listDisputes'>;
  intervalMs: number;
};

/**
 * One reading of the acquirer's infractions: no callback announces them (decision 218). All pages are applied, in the
 * order in which they were opened; what cannot be applied yet keeps the window open.
 */
export async function readDisputes(deps: ReadDisputesDeps, reading: Reading): Promise<void> {
  let waitingFrom: Date | null = null;
  let isComplete = false;
  try {
    // First, because it does not need the list: one that cannot be read must not keep money blocked.
    await endBlocks(deps);
    for (let page = 0; page < PAGES_MAX && !isComplete; page += 1) {
      const listed = await deps.acquirer.listDisputes({ ...reading, page });
      if (listed.kind === 'unknown') {
        deps.logger.warn({ cause: listed.cause }, 'the list of infractions cannot be read');
        return;
      }
      const waiting = await applyAll(deps, await findNews(deps.db, listed.items));
      waitingFrom = earlier(waitingFrom, waiting);
      isComplete = !listed.hasMore;
    }
  } finally {
    await endReading(deps.db, reading, { isComplete, waitingFrom, nextInMs: deps.intervalMs });
  }
}

async function applyAll(
  deps: ReadDisputesDeps,
  infractions: readonly AcquirerDispute[],
): Promise<Date | null> {
  let waitingFrom: Date | null = null;
  for (const infraction of infractions) {
    if ((await applySafely(deps, infraction)) === 'waiting') {
      waitingFrom = earlier(waitingFrom, infraction.openedAt);
    }
  }
  return waitingFrom;
}

/** One infraction that cannot be applied does not block the others (decision 216). */
async function applySafely(
  deps: ReadDisputesDeps,
  infraction: AcquirerDispute,
): Promise<'done' | 'waiting'> {
  try {
    return await applyInfraction(deps, infraction);
  } catch (error) {
    deps.logger.error({ err: error, infraction_id: infraction.id }, 'an infraction waits');
    return 'waiting';
  }
}

function earlier(one: Date | null, other: Date | null): Date | null {
  if (one === null || other === null) return one ?? other;
  return one < other ? one : other;
}
