import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';

import { applyLedgerEvent } from '#settlement/apply-ledger-event.ts';
import type { SettlementDeps } from '#settlement/settlement-deps.ts';

type Command = {
  event_id: string;
  type: string;
  message: { data: { hold_id: string; resource_id: string } };
};

/**
 * What the ledger answers to the ends of holds that were ordered: the first end of a hold stands, for ever. Each
 * pass answers every command again, as redelivery would.
 */
export function createLedgerAnswers(deps: SettlementDeps, onlyPayoutId: string | null = null) {
  const ends = new Map<string, 'settled' | 'released'>();
  return {
    ends,
    /** One pass over all commands so far. */
    answerAll: async (): Promise<void> => {
      for (const command of await readEnds(deps.db, onlyPayoutId)) {
        const { hold_id: holdId, resource_id: payoutId } = command.message.data;
        const wanted = command.type === 'hold.settle' ? 'settled' : 'released';
        const state = ends.get(holdId) ?? wanted;
        ends.set(holdId, state);
        const event =
          state === wanted
            ? ({ kind: state } as const)
            : ({ kind: 'end_refused', wanted, state } as const);
        await applyLedgerEvent(deps, { payoutId, holdId }, event);
      }
    },
  };
}

async function readEnds(db: Database, payoutId: string | null): Promise<Command[]> {
  return await db.query(sql`
    select event_id, type, message
    from events
    join outbox using (event_id)
    where type in ('hold.settle', 'hold.release')
      and (${payoutId}::text is null or message->'data'->>'resource_id' = ${payoutId})
    order by outbox.id`);
}
