import {
  ReconciliationReport,
  RunReconciliationBody,
} from '@pixmesh/contracts/internal/reconciliation';
import { readBody } from '@pixmesh/http/json-request';
import { rawBody } from '@pixmesh/http/service-app';
import { AppError } from '@pixmesh/kernel/app-error';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { Reconciliation } from '@pixmesh/reconciliation/reconciliation';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { recordChange } from '../audit/record-change.ts';
import {
  callOwner,
  type OwnerAndTablesDeps,
  OWNER_SERVICES,
  type OwnerService,
  readAnswer,
} from '../owners/call-owner.ts';
import { joinReports, type JoinedReport, type ReportPart } from './join-reports.ts';

const PATH = '/internal/reconciliation';

export type ReconciliationDeps = OwnerAndTablesDeps & {
  logger: Logger;
  /** Of the gateway's own records. */
  reconciliation: Pick<Reconciliation, 'latest' | 'runNow' | 'requestFull'>;
  /** A run takes longer than a question. */
  reconciliationTimeoutMs: number;
};

/**
 * `/admin/reconciliation`: the newest run of every service in one report; POST has all of them run now. A full run that
 * takes longer than the request goes on after it, and the report shows how far it is.
 */
export function registerReconciliation(app: FastifyInstance, deps: ReconciliationDeps): void {
  app.get('/admin/reconciliation', (request) =>
    readReports(deps, { request, method: 'GET', path: PATH }, deps.reconciliation.latest()),
  );

  app.post('/admin/reconciliation', async (request) => {
    const { full } = readRunBody(request);
    await deps.db.transaction((tx) =>
      recordChange(tx, {
        actor: request.actor,
        action: 'reconciliation.run_requested',
        target: { kind: 'reconciliation', id: full ? 'full' : 'incremental' },
        before: null,
        after: null,
      }),
    );
    const patient = { ...deps, requestTimeoutMs: deps.reconciliationTimeoutMs };
    const body = Buffer.from(JSON.stringify({ full }));
    const own = full ? deps.reconciliation.requestFull() : deps.reconciliation.runNow();
    return await readReports(patient, { request, method: 'POST', path: PATH, body }, own);
  });
}

async function readReports(
  deps: ReconciliationDeps,
  call: Parameters<typeof callOwner>[2],
  own: Promise<ReconciliationReport>,
): Promise<JoinedReport> {
  const parts = await Promise.all([
    ...OWNER_SERVICES.map((service) => readPart(deps, service, call)),
    own.then(
      (report) => ({ service: 'gateway', report }),
      (error: unknown) => missingPart(deps, 'gateway', error),
    ),
  ]);
  return joinReports(parts, new Date());
}

async function readPart(
  deps: ReconciliationDeps,
  service: OwnerService,
  call: Parameters<typeof callOwner>[2],
): Promise<ReportPart> {
  try {
    const answer = await callOwner(deps, service, call);
    return { service, report: readAnswer(ReconciliationReport, service, answer) };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return missingPart(deps, service, error);
  }
}

function missingPart(deps: ReconciliationDeps, service: string, error: unknown): ReportPart {
  deps.logger.warn({ err: error, service }, 'a part of reconciliation is missing');
  return { service, report: null };
}

/** A body is not needed. */
function readRunBody(request: FastifyRequest): { full: boolean } {
  if (rawBody(request.body).length === 0) return { full: false };
  return readBody(RunReconciliationBody, request);
}
