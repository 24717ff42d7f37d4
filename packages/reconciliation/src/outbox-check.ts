import type { Queryable } from '@pixmesh/postgres/pool';

import {
  type Check,
  type CheckOutcome,
  type FoundBreak,
  NEVER_IN_FLIGHT,
  type Scope,
} from './check.ts';
import {
  type EventCount,
  type NumberedResources,
  readEventCounts,
  readEventCountsOf,
  readUnanswered,
  readUnpublished,
  type UnansweredCommand,
} from './outbox-check.sql.ts';
import { comparePages, createResources } from './resources.ts';

const RESOURCES_PER_PAGE = 1_000;

type OutboxCheckDeps = {
  db: Queryable;
  /** Resources whose events are numbered; absent where none are. */
  numbered?: NumberedResources;
};

/**
 * Every change of state has its event, and every command its outcome: the events of a resource are numbered from 1 to
 * the counter on its row without gaps, no event waits to be published and no command to be answered for longer than
 * the window.
 */
export function outboxCheck({ db, numbered }: OutboxCheckDeps): Check {
  const compareNumbers = numbered ? createNumbersCheck(db, numbered) : null;
  return {
    name: 'outbox',
    run: async (scope) => {
      const numbers = await compareNumbers?.(scope);
      const unanswered = await readUnanswered(db);
      const breaks = [
        ...(numbers?.breaks ?? []),
        ...(await findUnpublished(db)),
        ...unanswered.map(toUnansweredBreak),
      ];
      return { compared: (numbers?.compared ?? 0) + unanswered.length, breaks };
    },
  };
}

function createNumbersCheck(
  db: Queryable,
  numbered: NumberedResources,
): (scope: Scope) => Promise<CheckOutcome> {
  const countsIn = createResources<EventCount>({
    db,
    topic: numbered.topic,
    pageSize: RESOURCES_PER_PAGE,
    read: (page) => readEventCounts(db, numbered, page),
    find: (ids) => readEventCountsOf(db, numbered, ids),
  });
  return (scope) => comparePages(countsIn(scope), scope, (counts) => counts.flatMap(compareCount));
}

function toUnansweredBreak({ commandId, type, writtenAt }: UnansweredCommand): FoundBreak {
  return {
    kind: 'unanswered',
    id: commandId,
    expected: `outcome of ${type}`,
    found: null,
    changedAt: writtenAt,
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

/** Under the id of the oldest event: a queue that moves is no difference that lasts. */
async function findUnpublished(db: Queryable): Promise<FoundBreak[]> {
  const unpublished = await readUnpublished(db);
  if (unpublished === null) return [];
  const { count, oldestId, oldestAt } = unpublished;
  return [
    { kind: 'unpublished', id: oldestId, expected: '0', found: `${count}`, changedAt: oldestAt },
  ];
}
