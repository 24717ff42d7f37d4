import { SuspenseCredited, SuspenseResolved } from '@pixmesh/contracts/messages/ledger-event.v1';
import { on } from '@pixmesh/kafka/message-handler';
import type { Database } from '@pixmesh/postgres/pool';

import { confirmResolution } from './resolutions.sql.ts';

/**
 * What the ledger says of items in suspense. Items that other services booked have no row here, and are left to them.
 */
export function suspenseHandlers({ db }: { db: Database }) {
  return [
    on(SuspenseResolved, async ({ data }) => {
      const action = data.action === 'return' ? 'return' : 'accept';
      await confirmResolution(db, data.item_id, { action, part: 'resolved' });
    }),
    on(SuspenseCredited, async ({ data }) => {
      await confirmResolution(db, data.item_id, { action: 'accept', part: 'credited' });
    }),
  ];
}
