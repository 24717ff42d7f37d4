import type {
  SuspenseCredited,
  SuspenseResolved,
} from '@pixmesh/contracts/messages/ledger-event.v1';
import type { Database } from '@pixmesh/postgres/pool';
import type { z } from 'zod';

import { confirmResolution } from './resolutions.sql.ts';

/**
 * The ledger took the money of an item out of suspense. Items that other services booked have no row here, and are left
 * to them; a part that went back without an order of ours resolves nothing.
 */
export async function confirmResolved(
  db: Database,
  data: z.output<typeof SuspenseResolved.schema>['data'],
): Promise<void> {
  const action = data.action === 'return' ? 'return' : 'accept';
  const { item_id: itemId, command_id: commandId } = data;
  await confirmResolution(db, itemId, { action, part: 'resolved', commandId });
}

/** The ledger credited an item without an owner to the account that an operator named. */
export async function confirmCredited(
  db: Database,
  data: z.output<typeof SuspenseCredited.schema>['data'],
): Promise<void> {
  const { item_id: itemId, command_id: commandId } = data;
  await confirmResolution(db, itemId, { action: 'accept', part: 'credited', commandId });
}
