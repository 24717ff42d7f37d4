import {
  COMPARE_APPLICATIONS_PATH,
  type ComparedApplications,
  CompareApplicationsBody,
} from '@pixmesh/contracts/internal/compare-applications';
import { readOperatorBody } from '@pixmesh/http/operator-request';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { findApplicationsBehind } from './applications.sql.ts';

/** What the gateway asks for reconciliation. */
export function registerCompareApplications(app: FastifyInstance, { db }: { db: Database }): void {
  app.post(COMPARE_APPLICATIONS_PATH, async (request): Promise<ComparedApplications> => {
    const { applications } = readOperatorBody(CompareApplicationsBody, request);
    return { behind: await findApplicationsBehind(db, applications) };
  });
}
