import type { Acquirer } from '@pixmesh/acquirer/acquirer';
import { createAcquirer } from '@pixmesh/acquirer/client';
import type { PayoutId } from '@pixmesh/kernel/ids';
import { toAcquirerId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { SIMULATOR_CREDENTIALS, startSimulatorProcess } from '@pixmesh/testkit/simulator-process';
import { createTestDatabase } from '@pixmesh/testkit/test-database';

import { createPayoutMoves } from '#payouts/move-payouts.sql.ts';
import type { PayoutRow } from '#payouts/payout-row.ts';
import { findAnyPayout } from '#payouts/payouts.sql.ts';
import { startPostponingChecks } from '#status-check/postpone-checks.job.ts';
import { startStatusCheckJob } from '#status-check/status-check.job.ts';
import type { StatusCheckDeps } from '#status-check/status-check-deps.ts';
import type { Claim } from '#sending/claim-due.sql.ts';
import { releaseSlots } from '#sending/send-slots.sql.ts';
import { startSender } from '#sending/sender.job.ts';
import type { SendingDeps } from '#sending/sending-deps.ts';

import { createLedgerAnswers } from './ledger-answers.ts';

export type SendingUnderTest = Awaited<ReturnType<typeof startSendingUnderTest>>;

type WorkersDeps = SendingDeps & StatusCheckDeps & { slots: number; slotWaitMs: number };

/** Shorter than any fault's delay, longer than a busy machine needs for a call. */
const ACQUIRER_TIMEOUT_MS = 1_000;

/** Entry of the simulator's journal: what really happened. */
export type JournalEntry = { kind: string; id_envio: string | null; end_to_end_id: string | null };

/** Sending and status checks on a real database, beside a real simulator; a test answers for the ledger. */
export async function startSendingUnderTest(acquirerTimeoutMs = ACQUIRER_TIMEOUT_MS) {
  const [database, simulator] = await Promise.all([
    createTestDatabase('payouts'),
    startSimulatorProcess(),
  ]);
  const logLines: string[] = [];
  const logger = createLogger('payouts', 'warn', { write: (line) => void logLines.push(line) });
  const acquirer = anAcquirer(simulator.url, acquirerTimeoutMs);
  const deps = { ...dependencies(database.db, acquirer, logger), acquirerTimeoutMs };
  return {
    db: database.db,
    adminUrl: database.adminUrl,
    simulator,
    acquirer,
    deps,
    logLines,
    ledger: createLedgerAnswers(deps),
    startWorkers: (changes: Partial<WorkersDeps> = {}) => startWorkers({ ...deps, ...changes }),
    find: (id: PayoutId) => findExisting(database.db, id),
    eventsOf: (id: PayoutId) => eventsOf(database.db, id),
    faults: (...rules: object[]) => simulator.control('PUT', '/control/faults', { seed: 1, rules }),
    journalOf: async (id: PayoutId) => {
      const idEnvio = toAcquirerId(id);
      return (await readJournal(simulator)).filter((entry) => entry.id_envio === idEnvio);
    },
    journal: () => readJournal(simulator),
    [Symbol.asyncDispose]: async () => {
      await acquirer[Symbol.asyncDispose]();
      await simulator[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

function anAcquirer(url: string, timeoutMs: number): Acquirer {
  const { clientId, clientSecret, pixKey } = SIMULATOR_CREDENTIALS;
  return createAcquirer({ url, clientId, clientSecret, pixKey, timeoutMs });
}

/** Short periods; a refusal waits long enough to be seen waiting. */
function dependencies(
  db: Database,
  acquirer: Acquirer,
  logger: SendingDeps['logger'],
): WorkersDeps & { keepSlot(claim: Claim): Promise<void> } {
  return {
    db,
    moves: createPayoutMoves(db),
    acquirer,
    logger,
    wakeOutbox: () => undefined,
    wakeSender: () => undefined,
    wakeStatusChecks: () => undefined,
    acquirerTimeoutMs: ACQUIRER_TIMEOUT_MS,
    // Calls begin at once here.
    callMs: ACQUIRER_TIMEOUT_MS,
    slots: 8,
    slotWaitMs: 0,
    keepSlot: (claim) => releaseSlots(db, [claim]),
    refusalWaitMs: 1_500,
    intentChecks: { firstMs: 100, maxMs: 200 },
    unknownChecks: { firstMs: 50, maxMs: 200 },
    acceptedChecks: { firstMs: 100, maxMs: 200 },
    settleIntent: () => Promise.resolve({ kind: 'unknown' }),
  };
}

/** What one replica runs. */
async function startWorkers(deps: WorkersDeps) {
  const sending = createWakeSignal();
  const checks = createWakeSignal();
  const postponing = createWakeSignal();
  const postponed = startPostponingChecks({ ...deps, signal: postponing });
  const sender = startSender({ ...deps, signal: sending });
  const statusCheck = startStatusCheckJob({
    ...deps,
    signal: checks,
    wakeStatusChecks: checks.notify,
    wakePostponing: postponing.notify,
    wakeSender: sending.notify,
    leaseMs: deps.acquirerTimeoutMs + 2_000,
  });
  return {
    sender,
    statusCheck,
    [Symbol.asyncDispose]: async () => {
      await Promise.all([sender, statusCheck, postponed].map((job) => job[Symbol.asyncDispose]()));
    },
  };
}

async function findExisting(db: Database, id: PayoutId): Promise<PayoutRow> {
  const payout = await findAnyPayout(db, id);
  if (payout === null) throw new Error(`no payout ${id}`);
  return payout;
}

/** Catalogue events and ledger commands of one payout, in the order of the queue, which no relay empties here. */
async function eventsOf(db: Database, id: PayoutId): Promise<string[]> {
  const rows = await db.query<{ type: string }>(sql`
    select type
    from events
    join outbox using (event_id)
    where key = ${id}
      or message->'data'->>'resource_id' = ${id}
      or message->'data'->>'payout_id' = ${id}
    order by outbox.id`);
  return rows.map((row) => row.type);
}

async function readJournal(simulator: {
  control(method: string, path: string): Promise<unknown>;
}): Promise<JournalEntry[]> {
  const body = await simulator.control('GET', '/control/journal?limit=100000');
  return (Array.isArray(body) ? body : (body as { data: JournalEntry[] }).data) as JournalEntry[];
}
