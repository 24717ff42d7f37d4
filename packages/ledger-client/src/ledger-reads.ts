import { HoldItem } from '@pixmesh/contracts/internal/holds';
import type { JournalKind } from '@pixmesh/contracts/internal/journal-kinds';
import {
  type BookedJournal,
  BookedJournals,
  LEDGER_PAGE_MAX,
  LedgerTotals,
} from '@pixmesh/contracts/internal/ledger-reads';
import type { InternalClient } from '@pixmesh/http/internal-client';
import { requestJson } from '@pixmesh/http/request-json';
import { AppError } from '@pixmesh/kernel/app-error';
import { z } from 'zod';

/** Pages of open holds: a million of them in flight would be a fault by itself. */
const HOLD_PAGES_MAX = 1_000;

const HoldPage = z.object({ data: z.array(HoldItem), has_more: z.boolean() });
const FoundPage = BookedJournals.pick({ data: true });

/** Journals of some kinds that were booked from an instant on (null: since ever) and before another. */
type JournalQuery = { kinds: readonly JournalKind[]; from: Date | null; to: Date };

/** What other services' checks read of the ledger. Every method throws when the ledger does not answer. */
export type LedgerReads = {
  /** Those of the commands that moved money, by command id; a refused one is decided, but has no journal. */
  findJournals(commandIds: readonly string[]): Promise<Map<string, BookedJournal>>;
  /** The journals of a stretch of time that moved money, oldest first, in pages. */
  listJournals(query: JournalQuery): AsyncGenerator<BookedJournal[]>;
  /** All holds of a kind that are open, by hold id. */
  listOpenHolds(kind: HoldItem['kind']): Promise<Map<string, HoldItem>>;
  readTotals(): Promise<LedgerTotals>;
};

export function createLedgerReads(client: InternalClient): LedgerReads {
  return { findJournals, listJournals, listOpenHolds, readTotals };

  async function findJournals(ids: readonly string[]): Promise<Map<string, BookedJournal>> {
    const found = new Map<string, BookedJournal>();
    const unique = [...new Set(ids)];
    for (let start = 0; start < unique.length; start += LEDGER_PAGE_MAX) {
      const command_ids = unique.slice(start, start + LEDGER_PAGE_MAX);
      const { data } = await call(FoundPage, 'POST /internal/journals/lookup', { command_ids });
      for (const journal of data) if (journal.amount > 0n) found.set(journal.command_id, journal);
    }
    return found;
  }

  async function* listJournals({ kinds, from, to }: JournalQuery): AsyncGenerator<BookedJournal[]> {
    const query = new URLSearchParams({
      kinds: kinds.join(','),
      ...(from && { created_from: from.toISOString() }),
      created_to: to.toISOString(),
      limit: String(LEDGER_PAGE_MAX),
    });
    // It ends: each page is behind the last journal of the one before.
    let hasMore = true;
    while (hasMore) {
      const route = `GET /internal/journals?${query.toString()}`;
      const { data, has_more } = await call(BookedJournals, route);
      const last = data.at(-1);
      if (has_more && !last) {
        const message = 'an empty page of journals is not the last one';
        throw new AppError('DEPENDENCY_UNAVAILABLE', { message });
      }
      yield data.filter(({ amount }) => amount > 0n);
      query.set('starting_after', last?.command_id ?? '');
      hasMore = has_more;
    }
  }

  async function listOpenHolds(kind: HoldItem['kind']): Promise<Map<string, HoldItem>> {
    const found = new Map<string, HoldItem>();
    let after = '';
    for (let page = 0; page < HOLD_PAGES_MAX; page += 1) {
      const query = `state=open&kind=${kind}&limit=${LEDGER_PAGE_MAX}${after}`;
      const { data, has_more } = await call(HoldPage, `GET /internal/holds?${query}`);
      for (const hold of data) found.set(hold.hold_id, hold);
      if (!has_more) return found;
      after = `&starting_after=${data.at(-1)?.hold_id}`;
    }
    throw new AppError('DEPENDENCY_UNAVAILABLE', { message: 'the list of holds does not end' });
  }

  async function readTotals(): Promise<LedgerTotals> {
    return await call(LedgerTotals, 'GET /internal/totals');
  }

  async function call<Schema extends z.ZodType>(
    schema: Schema,
    route: string,
    body?: object,
  ): Promise<z.output<Schema>> {
    return await requestJson(client, schema, { service: 'the ledger', route, body });
  }
}
