import { CONSUMER_GROUPS } from '@pixmesh/contracts/internal/consumer-groups';
import type { Consumers } from '@pixmesh/kafka/consumers';
import { letterOf, reportParked } from '@pixmesh/kafka/parked-letter';
import type { AccountId } from '@pixmesh/kernel/ids';
import { parkMessage } from '@pixmesh/postgres/dead-letters';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';

import { messageOf } from './message-of.ts';
import type { AssembledEvent } from './read-event.ts';
import { removeSetAside, takeSetAside } from './set-aside-events.sql.ts';
import { unstorable } from './unstorable.ts';

export type ParkSetAsideDeps = {
  db: Database;
  logger: Logger;
  toRawMessage: Consumers['toRawMessage'];
};

/**
 * Parks an event that was set aside and is refused alone, as its consumer would have parked it, in the transaction that
 * ends its row. Nothing is done where it is no longer the oldest of its account, or another process has it in hand.
 * @throws AppError `DEPENDENCY_UNAVAILABLE` where nothing is wrong with the event
 */
export async function parkSetAside(
  { db, logger, toRawMessage }: ParkSetAsideDeps,
  { account, event }: { account: AccountId; event: AssembledEvent },
  refusal: unknown,
): Promise<void> {
  const error = unstorable(event, refusal);
  // Outside of the transaction: schemas may have to be read, on another connection.
  const letter = letterOf(await toRawMessage(messageOf(event)), error);
  const isParked = await db.transaction(async (tx) => {
    const [oldest] = await takeSetAside(tx, account, 1);
    if (oldest?.eventId !== event.eventId) return false;
    // Before the row goes: a replay holds the letter while it may wait for the key of the row.
    await parkMessage(tx, CONSUMER_GROUPS.dispatcherIntake.groupId, letter);
    await removeSetAside(tx, account, [event.eventId]);
    return true;
  });
  if (isParked) reportParked(logger.child({ account_id: account }), letter, error);
}
