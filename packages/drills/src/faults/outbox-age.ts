import type { DrillMesh } from '../mesh/drill-mesh.ts';

const METRIC = 'outbox_oldest_age_seconds';
const AT_REST_SECONDS = 2;

/** The metric of charges, which an operator is alerted by. */
export function outboxOlderThan(seconds: number): (mesh: DrillMesh) => Promise<void> {
  return async (mesh) => {
    const age = await mesh.metric('charges', METRIC);
    if (age < seconds) throw new Error(`the oldest event is ${age} s old`);
  };
}

export async function outboxDrained(mesh: DrillMesh): Promise<void> {
  for (const service of ['gateway', 'charges', 'payouts', 'ledger']) {
    const age = await mesh.metric(service, METRIC);
    if (age > AT_REST_SECONDS) throw new Error(`the oldest event of ${service} is ${age} s old`);
  }
}
