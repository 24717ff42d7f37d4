import type { Logger } from '@pixmesh/telemetry/logger';
import { counter } from '@pixmesh/telemetry/metrics';

const contradictions = counter(
  'return_contradictions_total',
  'Returns that were carried out and that the acquirer shows otherwise later, by what it shows',
  [],
);

/** An operator has to act: what was booked of a return is not so. Reconciliation shows it (decision 120). */
export function returnContradicted(
  logger: Logger,
  { endToEndId, id, status }: { endToEndId: string; id: string; status: string },
): void {
  contradictions.add(1, { status });
  logger.error(
    { end_to_end_id: endToEndId, return_id: id, status },
    'return contradicted by the acquirer',
  );
}
