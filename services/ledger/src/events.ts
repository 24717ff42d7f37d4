import { counter, observedGauge } from '@pixmesh/telemetry/metrics';

const posted = counter('ledger_journals_total', 'Journals posted, by kind');
const repeated = counter(
  'ledger_commands_repeated_total',
  'Commands answered with their first outcome',
);
const refused = counter(
  'ledger_commands_refused_total',
  'Commands refused because another command was booked under their id',
);

export function journalPosted(kind: string): void {
  posted.add(1, { kind });
}

export function commandRepeated(): void {
  repeated.add(1);
}

export function commandRefused(): void {
  refused.add(1);
}

/** Age of the oldest money that waits for an operator; 0 when none does. Read when somebody scrapes. */
export function observeSuspense(readOldestAge: () => Promise<number>): void {
  observedGauge(
    'ledger_oldest_suspense_age_seconds',
    'Age of the oldest open suspense item',
    async () => [{ value: await readOldestAge() }],
  );
}
