import type { HoldItem } from '@pixmesh/contracts/internal/holds';
import type { BookedJournal, LedgerTotals } from '@pixmesh/contracts/internal/ledger-reads';
import { AppError } from '@pixmesh/kernel/app-error';
import { newId } from '@pixmesh/kernel/ids';
import type { LedgerReads } from '@pixmesh/ledger-client/ledger-reads';

/** What the ledger answers about its books; `isAway` makes it answer nothing. */
export function createLedgerInMemory() {
  const journals = new Map<string, BookedJournal>();
  const holds = new Map<string, HoldItem>();
  const state = { clearing: 0n, isAway: false, clockAheadMs: 0 };
  const reads: LedgerReads = {
    listJournals: async function* ({ kinds }) {
      yield present([...journals.values()].filter(({ kind }) => kinds.some((one) => one === kind)));
    },
    findJournals: async (ids) => present(new Map(ids.flatMap((id) => entryOf(journals, id)))),
    listOpenHolds: async () => present(new Map(holds)),
    readTotals: async () =>
      present({ acquirer_clearing: state.clearing, read_at: now() } as LedgerTotals),
  };
  return { ...reads, journals, holds, state, book };

  function book(
    commandId: string,
    movement: { id: string; amount: bigint; clearing: bigint },
  ): void {
    state.clearing += movement.clearing;
    journals.set(commandId, {
      command_id: commandId,
      account_id: newId(),
      kind: 'book_acquirer_tariff',
      resource_id: movement.id,
      amount: movement.amount,
      created_at: now(),
    });
  }

  function now(): string {
    return new Date(Date.now() + state.clockAheadMs).toISOString();
  }

  function present<T>(value: T): T {
    if (state.isAway) throw new AppError('DEPENDENCY_UNAVAILABLE');
    return value;
  }
}

function entryOf<T>(map: ReadonlyMap<string, T>, key: string): [string, T][] {
  const value = map.get(key);
  return value === undefined ? [] : [[key, value]];
}
