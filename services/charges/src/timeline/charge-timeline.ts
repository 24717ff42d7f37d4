import { receivedPixCommandId } from '@pixmesh/contracts/internal/ledger-command-ids';
import { LEDGER_PAGE_MAX } from '@pixmesh/contracts/internal/ledger-reads';
import {
  type OwnedTimeline,
  TIMELINE_ENTRIES_MAX,
  TIMELINE_RESOURCES_MAX,
} from '@pixmesh/contracts/internal/timeline';
import { inOrderOfTime } from '@pixmesh/contracts/internal/timeline-order';
import { TOPICS } from '@pixmesh/contracts/topics';
import { readEventHistory } from '@pixmesh/postgres/event-history';
import type { Queryable } from '@pixmesh/postgres/pool';

import type { ChargeRow } from '#charge/charge-row.ts';

import { commandIdsOfCharge } from './charge-commands.ts';
import {
  type ChargeMove,
  type DisputeSteps,
  disputesStatement,
  movesStatement,
  receivedStatement,
  type RefundSteps,
  refundsStatement,
  type ResolutionSteps,
  resolutionsStatement,
  type ReturnSteps,
  returnsStatement,
} from './charge-steps.sql.ts';
import { toTimelineEntries } from './to-timeline-entries.ts';

/** One more row than is shown proves that there is more. */
const STEPS_MAX = TIMELINE_ENTRIES_MAX + 1;
const RESOURCES_MAX = TIMELINE_RESOURCES_MAX + 1;

/**
 * What this service knows of a charge's life: short reads of indexes, each bounded, that take no lock. `db` is a
 * snapshot: read at several moments, an event could be shown without the move that it announces.
 */
export async function readChargeTimeline(db: Queryable, charge: ChargeRow): Promise<OwnedTimeline> {
  const money = await readMoney(db, charge);
  const entries = inOrderOfTime(toTimelineEntries(await readLife(db, charge, money)));
  const ids = [charge, ...money.refunds, ...money.disputes].map(({ id }) => id);
  const commandIds = commandIdsOfCharge(money);
  return {
    entries: entries.slice(0, TIMELINE_ENTRIES_MAX),
    truncated:
      entries.length > TIMELINE_ENTRIES_MAX ||
      ids.length > TIMELINE_RESOURCES_MAX ||
      commandIds.length > LEDGER_PAGE_MAX,
    resource_ids: ids.slice(0, TIMELINE_RESOURCES_MAX),
    command_ids: commandIds.slice(0, LEDGER_PAGE_MAX),
  };
}

type Money = Awaited<ReturnType<typeof readMoney>>;

async function readMoney(db: Queryable, { id }: ChargeRow) {
  const received = await db.query<{ end_to_end_id: string }>(receivedStatement(id, STEPS_MAX));
  const returns = await db.query<ReturnSteps>(returnsStatement(id, STEPS_MAX));
  const refunds = await db.query<RefundSteps>(refundsStatement(id, RESOURCES_MAX));
  const disputes = await db.query<DisputeSteps>(disputesStatement(id, RESOURCES_MAX));
  return { received: received.map((pix) => pix.end_to_end_id), returns, refunds, disputes };
}

async function readLife(db: Queryable, charge: ChargeRow, money: Money) {
  const { id, createdAt: since } = charge;
  const items = money.received.map(receivedPixCommandId);
  const history = { topic: TOPICS.chargesEvents, key: id, since, limit: STEPS_MAX };
  const moves = await db.query<ChargeMove>(movesStatement(id, STEPS_MAX));
  const events = await readEventHistory(db, history);
  const resolutions = await db.query<ResolutionSteps>(resolutionsStatement(items, STEPS_MAX));
  const { refunds, disputes } = money;
  return { chargeId: id, moves, events, refunds, disputes, resolutions };
}
