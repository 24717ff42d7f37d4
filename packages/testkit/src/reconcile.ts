import type { ReconciliationReport } from '@pixmesh/contracts/internal/reconciliation';
import { expect } from 'vitest';

import { eventually } from './eventually.ts';

const PATH = '/internal/reconciliation';
/** For a run over what a test has made, on a busy machine. */
const RUN_MS_MAX = 60_000;

/** Asks the service under test, on behalf of no tenant. */
type Ask = (route: string, body?: object) => Promise<{ status: number; body: unknown }>;

/**
 * The report of a run of reconciliation that began after the call; a full one is a stored job, read when it has ended.
 */
export async function reconcile(ask: Ask, full: boolean): Promise<ReconciliationReport> {
  const asked = await ask(`POST ${PATH}`, { full });
  expect(asked.status).toBe(200);
  if (!full) return asked.body as ReconciliationReport;
  return await eventually(async () => {
    const { body } = await ask(`GET ${PATH}`);
    const report = body as ReconciliationReport;
    expect(report.full_run).toBeNull();
    return report;
  }, RUN_MS_MAX);
}
