import type { Queryable } from '@pixmesh/postgres/pool';
import type { Statement } from '@pixmesh/postgres/sql';

import { type Check, type FoundBreak, NEVER_IN_FLIGHT } from './check.ts';
import {
  type EventCount,
  readEventCounts,
  readEventCountsOf,
  readUnpublished,
} from './outbox-check.sql.ts';
import { createResources } from './resources.ts';

const RESOURCES_PER_PAGE = 1_000;

type OutboxCheckDeps = {
  db: Queryable;
  /** Topic of the resource's events. */
  topic: string;
  /** All resources, as `select id, event_sequence from …`: how many events each has had. */
  counters: Statement;
};

/**
 * Every change of state has its event: the events of a resource are numbered from 1 to the counter on its row
 * without gaps, and no event waits to be published for longer than the window.
 */
export function outboxCheck(deps: OutboxCheckDeps): Check {
  const countsIn = createResources<EventCount>({
    db: deps.db,
    topic: deps.topic,
    pageSize: RESOURCES_PER_PAGE,
    read: (page) => readEventCounts(deps.db, deps, page),
    find: (ids) => readEventCountsOf(deps.db, deps, ids),
  });
  return {
    name: 'outbox',
    run: async (scope) => {
      const breaks: FoundBreak[] = [];
      let compared = 0;
      for await (const counts of countsIn(scope)) {
        scope.signal.throwIfAborted();
        compared += counts.length;
        breaks.push(...counts.flatMap(compareCount));
      }
      return { compared, breaks: [...breaks, ...(await findUnpublished(deps.db))] };
    },
  };
}

function compareCount({ id, counter, events, numbers, last }: EventCount): FoundBreak[] {
  const at = { id, changedAt: NEVER_IN_FLIGHT };
  if (events !== last) return [{ kind: 'gap', ...at, expected: `${last}`, found: `${events}` }];
  if (numbers !== last) return [{ kind: 'gap', ...at, expected: `${last}`, found: `${numbers}` }];
  if (last < counter) {
    return [{ kind: 'missing_right', ...at, expected: `${counter}`, found: `${last}` }];
  }
  if (last > counter) {
    return [{ kind: 'missing_left', ...at, expected: `${counter}`, found: `${last}` }];
  }
  return [];
}

async function findUnpublished(db: Queryable): Promise<FoundBreak[]> {
  const { count, oldestAt } = await readUnpublished(db);
  if (oldestAt === null) return [];
  return [
    { kind: 'unpublished', id: 'outbox', expected: '0', found: `${count}`, changedAt: oldestAt },
  ];
}
