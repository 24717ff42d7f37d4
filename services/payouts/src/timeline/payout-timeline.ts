import { LEDGER_PAGE_MAX } from '@pixmesh/contracts/internal/ledger-reads';
import { type OwnedTimeline, TIMELINE_ENTRIES_MAX } from '@pixmesh/contracts/internal/timeline';
import { inOrderOfTime } from '@pixmesh/contracts/internal/timeline-order';
import { TOPICS } from '@pixmesh/contracts/topics';
import { readEventHistory } from '@pixmesh/postgres/event-history';
import type { Queryable } from '@pixmesh/postgres/pool';

import { payoutSuspendCommandIds } from '#payouts/ledger-commands.ts';
import type { VisiblePayout } from '#payouts/payout-row.ts';

import { commandsOfPayout } from './payout-commands.ts';
import {
  type ResolutionSteps,
  resolutionsStatement,
  type ReturnSteps,
  returnsStatement,
  type SendingSteps,
  sendingStatement,
} from './payout-steps.sql.ts';
import { toTimelineEntries } from './to-timeline-entries.ts';

/** One more than is listed shows whether there is more. */
const STEPS_MAX = TIMELINE_ENTRIES_MAX + 1;

/**
 * What this service knows of a payout's life: short reads of indexes, each bounded, that take no lock. `db` is a
 * snapshot: read at several moments, an event could be shown without the step that it announces.
 */
export async function readPayoutTimeline(
  db: Queryable,
  payout: VisiblePayout,
): Promise<OwnedTimeline> {
  const { id, createdAt: since } = payout;
  const history = { topic: TOPICS.payoutsEvents, key: id, since, limit: STEPS_MAX };
  const suspendIds = payoutSuspendCommandIds(payout);
  const [sending] = await db.query<SendingSteps>(sendingStatement(id));
  const events = await readEventHistory(db, history);
  const returns = await db.query<ReturnSteps>(returnsStatement(id, STEPS_MAX));
  const resolutions = await db.query<ResolutionSteps>(resolutionsStatement(suspendIds, STEPS_MAX));
  const steps = { payout, sending: sending ?? NEVER_SENT, events, returns, resolutions };
  const entries = inOrderOfTime(toTimelineEntries(steps));
  const commandIds = commandsOfPayout(payout, returns);
  return {
    entries: entries.slice(0, TIMELINE_ENTRIES_MAX),
    truncated: entries.length > TIMELINE_ENTRIES_MAX || commandIds.length > LEDGER_PAGE_MAX,
    resource_ids: [id],
    command_ids: commandIds.slice(0, LEDGER_PAGE_MAX),
  };
}

const NEVER_SENT: SendingSteps = { first_put_at: null, send_at: null };
