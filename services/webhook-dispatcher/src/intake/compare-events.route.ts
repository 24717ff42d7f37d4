import {
  COMPARE_EVENTS_PATH,
  type ComparedEvents,
  CompareEventsBody,
} from '@pixmesh/contracts/internal/compare-events';
import { readBody } from '@pixmesh/http/json-request';
import type { Database } from '@pixmesh/postgres/pool';
import type { FastifyInstance } from 'fastify';

import { compareEvents } from './compare-events.ts';
import type { IntakeDeps } from './intake.ts';

/** What owners of events ask for reconciliation. */
export function registerCompareEvents(
  app: FastifyInstance,
  deps: { db: Database; isDispatched: IntakeDeps['isDispatched'] },
): void {
  app.post(COMPARE_EVENTS_PATH, async (request): Promise<ComparedEvents> => {
    return await compareEvents(deps, readBody(CompareEventsBody, request));
  });
}
