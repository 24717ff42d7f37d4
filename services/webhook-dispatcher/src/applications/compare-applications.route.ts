import {
  COMPARE_APPLICATIONS_PATH,
  type ComparedApplications,
  CompareApplicationsBody,
} from '@pixmesh/contracts/internal/compare-applications';
import { readBody } from '@pixmesh/http/json-request';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { findApplicationsBehind } from './applications.sql.ts';

/** What the gateway asks for reconciliation. */
export function registerCompareApplications(app: FastifyInstance, { db }: { db: Database }): void {
  app.post(COMPARE_APPLICATIONS_PATH, async (request): Promise<ComparedApplications> => {
    const { applications } = readBody(CompareApplicationsBody, request);
    return { behind: await findApplicationsBehind(db, applications) };
  });
}
