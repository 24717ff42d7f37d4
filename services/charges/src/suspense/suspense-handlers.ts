import { SuspenseCredited, SuspenseResolved } from '@pixmesh/contracts/messages/ledger-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { Database } from '@pixmesh/postgres/pool';

import { confirmResolution } from './resolutions.sql.ts';

/**
 * What the ledger says of items in suspense. Items that other services booked have no row here, and are left to them; a
 * part that went back without an order of ours resolves nothing.
 */
export function suspenseHandlers({ db }: { db: Database }) {
  return [
    on(SuspenseResolved, async ({ data }) => {
      const action = data.action === 'return' ? 'return' : 'accept';
      const { item_id: itemId, command_id: commandId } = data;
      await confirmResolution(db, itemId, { action, part: 'resolved', commandId });
    }),
    on(SuspenseCredited, async ({ data }) => {
      const { item_id: itemId, command_id: commandId } = data;
      await confirmResolution(db, itemId, { action: 'accept', part: 'credited', commandId });
    }),
  ];
}
