import {
  COMPARE_EVENTS_PATH,
  type ComparedEvents,
  CompareEventsBody,
} from '@pixmesh/contracts/internal/compare-events';
import { readBody } from '@pixmesh/http/json-request';
import type { FastifyInstance } from 'fastify';

import { compareEvents, type CompareEventsDeps } from './compare-events.ts';

/** What owners of events ask for reconciliation. */
export function registerCompareEvents(app: FastifyInstance, deps: CompareEventsDeps): void {
  app.post(COMPARE_EVENTS_PATH, async (request): Promise<ComparedEvents> => {
    return await compareEvents(deps, readBody(CompareEventsBody, request));
  });
}
