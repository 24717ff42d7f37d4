import { JOURNAL_KINDS } from '@pixmesh/contracts/internal/journal-kinds';
import { counter, observedGauge, sharedFor } from '@pixmesh/telemetry/metrics';

import type { LedgerCommand } from '#commands/ledger-command.ts';
import type { BatchOutcome } from '#commands/outcome.ts';

const decided = counter(
  'ledger_commands_total',
  'Commands, by kind and by what became of them',
  [],
);
const batches = counter('ledger_batches_total', 'Batches written');
const batched = counter(
  'ledger_batched_commands_total',
  'Commands in batches: over batches, the size of one',
);

/** Counts a batch and its commands; each outcome word once, however many commands it stands for. */
export function batchDecided(
  commands: readonly LedgerCommand[],
  outcomes: readonly BatchOutcome[],
): void {
  batches.add(1);
  batched.add(commands.length);
  const counts = new Map<string, { kind: string; outcome: string; count: number }>();
  for (const [index, command] of commands.entries()) {
    const kind = JOURNAL_KINDS[command.kind];
    const outcome = wordOf(outcomes[index]!);
    const key = `${kind} ${outcome}`;
    const known = counts.get(key);
    if (known) known.count += 1;
    else counts.set(key, { kind, outcome, count: 1 });
  }
  for (const { kind, outcome, count } of counts.values()) decided.add(count, { kind, outcome });
}

function wordOf(outcome: BatchOutcome): string {
  if (outcome.kind === 'owner_locked') return outcome.kind;
  if (outcome.kind === 'rejected') return outcome.reason;
  return outcome.repeated ? 'repeated' : outcome.code;
}

/** Gauges of one scrape share an answer. */
const SCRAPE_MS = 1_000;

/** What is read at each scrape. */
export function observeLedger(reads: {
  waiting(): number;
  oldestSuspenseAge(): Promise<number>;
  openSuspense(): Promise<{ items: number; cents: number }>;
  oldestReleaseAge(): Promise<number>;
}): void {
  const openSuspense = sharedFor(SCRAPE_MS, reads.openSuspense);
  observedGauge('ledger_suspense_open', 'Open suspense items, up to a bound', async () => [
    { value: (await openSuspense()).items },
  ]);
  observedGauge('ledger_suspense_open_cents', 'Money of the open suspense items', async () => [
    { value: (await openSuspense()).cents },
  ]);
  observedGauge('ledger_queue_length', 'Commands that wait for their batch', async () => [
    { value: reads.waiting() },
  ]);
  observedGauge(
    'ledger_oldest_suspense_age_seconds',
    'Age of the oldest open suspense item; 0 when there is none',
    async () => [{ value: await reads.oldestSuspenseAge() }],
  );
  observedGauge(
    'ledger_oldest_due_release_age_seconds',
    'For how long the oldest pending money has been due; 0 when none is',
    async () => [{ value: await reads.oldestReleaseAge() }],
  );
}
