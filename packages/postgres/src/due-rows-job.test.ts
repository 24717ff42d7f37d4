import { setImmediate as nextTurn } from 'node:timers/promises';

import { currentAccount, OWN_WORK } from '@pixmesh/fair-share/current-account';
import { fourTimesFree } from '@pixmesh/fair-share/share-of-places';
import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { describe, expect, test } from 'vitest';

import { type DueRowsJobOptions, startDueRowsJob } from './due-rows-job.ts';

type Row = { id: string };

/** A job over rows in memory; `done` is the order of their ends. */
function aJob(changes: Partial<DueRowsJobOptions<Row>>, due: Row[] = []) {
  const done: string[] = [];
  const logLines: string[] = [];
  const signal = createWakeSignal();
  const job = startDueRowsJob<Row>({
    name: 'test job',
    logger: createLogger('test', 'warn', { write: (line) => void logLines.push(line) }),
    signal,
    inFlightMax: 4,
    sources: [takeFrom(due)],
    handle: async (row) => {
      done.push(row.id);
      await Promise.resolve();
    },
    describe: (row) => ({ row_id: row.id }),
    parentOf: () => null,
    ...changes,
  });
  return { job, signal, done, logLines };
}

function takeFrom(due: Row[], max = 4) {
  return { max, take: (limit: number) => Promise.resolve(due.splice(0, limit)) };
}

function rows(...ids: string[]): Row[] {
  return ids.map((id) => ({ id }));
}

test('what is due is worked on, and no notification is needed', async () => {
  const due = rows('a', 'b');
  const { job, done } = aJob({}, due);
  await eventually(() => expect(done).toEqual(['a', 'b']));
  due.push(...rows('c'));
  await eventually(() => expect(done).toEqual(['a', 'b', 'c']));
  await job[Symbol.asyncDispose]();
});

test('a notification ends the pause', async () => {
  const due: Row[] = [];
  // Longer than is waited here for what is notified.
  const signal = createWakeSignal({ pollMs: 60_000 });
  const { job, done } = aJob({ signal }, due);
  await eventually(() => expect(job.isAlive()).toBe(true));
  for (let turn = 0; turn < 20; turn += 1) {
    due.push({ id: String(turn) });
    signal.notify();
    await eventually(() => expect(done).toHaveLength(turn + 1));
  }
  await job[Symbol.asyncDispose]();
});

test('no more rows are in work than the bound allows, and a free place is filled at once', async () => {
  const due = rows(...Array.from({ length: 20 }, (_, index) => String(index)));
  const waiting: (() => void)[] = [];
  let inWork = 0;
  let inWorkMax = 0;
  const { job } = aJob(
    {
      inFlightMax: 3,
      handle: async () => {
        inWork += 1;
        inWorkMax = Math.max(inWorkMax, inWork);
        await new Promise<void>((resolve) => waiting.push(resolve));
        inWork -= 1;
      },
    },
    due,
  );
  for (let ended = 0; ended < 20; ended += 1) {
    await eventually(() => expect(waiting.length).toBeGreaterThan(0));
    waiting.shift()?.();
  }
  await eventually(() => expect(inWork).toBe(0));
  expect(inWorkMax).toBe(3);
  await job[Symbol.asyncDispose]();
});

test('what stands first among the sources gets the free places first', async () => {
  const requested = rows('r1', 'r2', 'r3', 'r4');
  const routine = rows('x1', 'x2');
  const { job, done } = aJob({
    sources: [takeFrom(requested), { ...takeFrom(routine), intervalMs: 10 }],
  });
  await eventually(() => expect(done).toHaveLength(6));
  expect(done.slice(0, 4)).toEqual(['r1', 'r2', 'r3', 'r4']);
  await job[Symbol.asyncDispose]();
});

test('a source that never ends leaves the others their turns', async () => {
  const issuing = rows('i1', 'i2', 'i3');
  let requested = 0;
  const endless = {
    max: 4,
    take: async (limit: number) =>
      Array.from({ length: limit }, () => ({ id: `r${(requested += 1)}` })),
  };
  const done: string[] = [];
  const { job } = aJob({
    inFlightMax: 1,
    sources: [endless, takeFrom(issuing)],
    handle: async ({ id }) => {
      done.push(id);
      await nextTurn();
    },
  });
  await eventually(() => expect(done).toContain('i3'));
  await job[Symbol.asyncDispose]();
  expect(done.slice(0, 6)).toEqual(['r1', 'i1', 'r2', 'i2', 'r3', 'i3']);
});

test('a source with an interval is asked no more often than that', async () => {
  let asked = 0;
  const routine = {
    max: 1,
    intervalMs: 60_000,
    take: () => {
      asked += 1;
      return Promise.resolve([]);
    },
  };
  const requested = rows('a', 'b', 'c', 'd', 'e', 'f');
  const { job, done } = aJob({ sources: [takeFrom(requested, 1), routine] });
  await eventually(() => expect(done).toHaveLength(6));
  expect(asked).toBe(1);
  await job[Symbol.asyncDispose]();
});

test('work that fails is logged by its ids, and the rest goes on', async () => {
  const { job, logLines } = aJob(
    { handle: (row) => (row.id === 'bad' ? Promise.reject(new Error('no')) : Promise.resolve()) },
    rows('bad', 'good'),
  );
  await eventually(() => expect(logLines).toHaveLength(1));
  expect(JSON.parse(logLines[0] ?? '')).toMatchObject({ job: 'test job', row_id: 'bad' });
  await job[Symbol.asyncDispose]();
});

test('a database that is away is waited for, and the log says so once', async () => {
  const due = rows('a');
  let failures = 3;
  const take = (limit: number) => {
    failures -= 1;
    return failures >= 0
      ? Promise.reject(new Error('away'))
      : Promise.resolve(due.splice(0, limit));
  };
  const { job, done, logLines } = aJob({ sources: [{ max: 4, take }] });
  await eventually(() => expect(done).toEqual(['a']));
  expect(logLines).toHaveLength(1);
  expect(job.isAlive()).toBe(true);
  await job[Symbol.asyncDispose]();
});

test('stopping takes nothing more and waits for what is in work', async () => {
  const due = rows('a');
  const gate = Promise.withResolvers<void>();
  const ended: string[] = [];
  const { job } = aJob(
    {
      handle: async (row) => {
        await gate.promise;
        ended.push(row.id);
      },
    },
    due,
  );
  await eventually(() => expect(due).toEqual([]));
  const stopping = job[Symbol.asyncDispose]();
  due.push(...rows('b'));
  gate.resolve();
  await stopping;
  expect(ended).toEqual(['a']);
  expect(due).toEqual(rows('b'));
});

test('work takes connections in the turns of its account, or in those of the installation', async () => {
  const accounts: string[] = [];
  const { job } = aJob(
    {
      handle: async () => void accounts.push(currentAccount()),
      accountOf: ({ id }) => (id === 'nobody' ? null : id),
    },
    rows('one', 'nobody', 'other'),
  );
  await eventually(() => expect(accounts).toEqual(['one', OWN_WORK, 'other']));
  await job[Symbol.asyncDispose]();
});

test('rows that a caller takes share the places, and none is taken beyond them or after a stop', async () => {
  const gate = Promise.withResolvers<void>();
  const { job } = aJob({ inFlightMax: 3, sources: [], handle: () => gate.promise });
  const places: number[] = [];
  const take = (taken: Row[]) => (free: number) => {
    places.push(free);
    return Promise.resolve(taken.slice(0, free));
  };
  await Promise.all([job.takeNow(3, take(rows('a', 'b'))), job.takeNow(3, take(rows('c')))]);
  await job.takeNow(3, take(rows('c', 'd')));
  await job.takeNow(3, take([]));
  const stopping = job[Symbol.asyncDispose]();
  gate.resolve();
  await stopping;
  await job.takeNow(3, take(rows('e')));
  expect(places).toEqual([3, 0, 1, 0, 0]);
});

test('while a source is asked, its places are its own: no more rows are in work than the bound allows', async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Row[]>();
  const source = {
    max: 2,
    take: async () => {
      asked.resolve();
      return await answer.promise;
    },
  };
  const gate = Promise.withResolvers<void>();
  const { job } = aJob({ inFlightMax: 3, sources: [source], handle: () => gate.promise });
  await asked.promise;
  const places: number[] = [];
  await job.takeNow(3, (free) => {
    places.push(free);
    return Promise.resolve(rows('a'));
  });
  expect(places).toEqual([1]);
  gate.resolve();
  answer.resolve([]);
  await job[Symbol.asyncDispose]();
});

test('rows that a caller takes do not overtake those that wait for a place', async () => {
  const due = rows('first', 'second');
  const ends: (() => void)[] = [];
  const begun: string[] = [];
  const other = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<Row[]>();
  const { job } = aJob({
    inFlightMax: 2,
    sources: [
      takeFrom(due, 1),
      {
        max: 1,
        take: async () => {
          other.resolve();
          return await answer.promise;
        },
      },
    ],
    handle: async ({ id }) => {
      begun.push(id);
      await new Promise<void>((resolve) => ends.push(resolve));
    },
  });
  const takeLate = () => job.takeNow(1, (free) => Promise.resolve(rows('late').slice(0, free)));
  // The first source may have more, and is asked again when the other one has answered.
  await other.promise;
  ends.shift()?.();
  await nextTurn();
  await takeLate();
  expect(begun).toEqual(['first']);
  answer.resolve([]);
  await eventually(() => expect(begun).toEqual(['first', 'second']));
  // Where none waits any more, a caller has its place.
  await eventually(async () => {
    await takeLate();
    expect(begun).toEqual(['first', 'second', 'late']);
  });
  for (const end of ends) end();
  await job[Symbol.asyncDispose]();
});

test('what waits for its pause keeps no place from a caller', async () => {
  const due = rows('a', 'b', 'c');
  const places: number[] = [];
  const { job, done } = aJob({ sources: [{ ...takeFrom(due, 1), intervalMs: 60_000 }] });
  await eventually(() => expect(done).toEqual(['a']));
  await job.takeNow(1, (free) => {
    places.push(free);
    return Promise.resolve([]);
  });
  expect(places).toEqual([1]);
  await job[Symbol.asyncDispose]();
});

describe('a job that leaves room', () => {
  type Owned = { id: string; owner: string };
  const SLOW = 'slow';

  function owned(owner: string, count: number): Owned[] {
    return Array.from({ length: count }, (_, index) => ({ id: `${owner}${index}`, owner }));
  }

  /** A job of ten places whose work ends when it is told to; `begun` is whose. Rows of `leftOut` wait. */
  function aSharedJob(due: Owned[], leftOut: readonly string[] = []) {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const source = {
      max: 10,
      take: (limit: number, except: readonly string[]) => {
        const taken = due.filter(({ owner }) => !except.includes(owner)).slice(0, limit);
        for (const row of taken) due.splice(due.indexOf(row), 1);
        return Promise.resolve(taken);
      },
    };
    const signal = createWakeSignal({ pollMs: 60_000 });
    const job = startDueRowsJob<Owned>({
      name: 'test job',
      logger: createLogger('test', 'silent'),
      signal,
      inFlightMax: 10,
      share: fourTimesFree,
      leaveOut: () => leftOut,
      wakesAtEnds: false,
      sources: [source],
      handle: async ({ owner }) => {
        begun.push(owner);
        await new Promise<void>((resolve) => ends.push(resolve));
      },
      describe: ({ id }) => ({ row_id: id }),
      parentOf: () => null,
      accountOf: ({ owner }) => owner,
    });
    const stop = async () => {
      due.length = 0;
      const stopping = job[Symbol.asyncDispose]();
      await eventually(async () => {
        for (const end of ends.splice(0)) end();
        await nextTurn();
      });
      await stopping;
    };
    return { job, signal, begun, ends, stop };
  }

  test('gives an account that is alone four fifths, and who comes next has a place before any work ends', async () => {
    const due = owned(SLOW, 20);
    const { signal, begun, ends, stop } = aSharedJob(due);
    await eventually(() => expect(begun).toHaveLength(8));
    due.push(...owned('next', 1));
    signal.notify();
    await eventually(() => expect(begun.slice(8)).toEqual(['next']));
    // As work ends, what is due of the account follows without a poll.
    ends.shift()?.();
    ends.shift()?.();
    await eventually(() => expect(begun.slice(9)).toEqual([SLOW, SLOW]));
    await stop();
  });

  test('takes no rows of accounts that are left out until it is notified, and keeps no place for them', async () => {
    const leftOut = ['later'];
    const due = [...owned('later', 2), ...owned('now', 2)];
    const { job, signal, begun, stop } = aSharedJob(due, leftOut);
    await eventually(() => expect(begun).toEqual(['now', 'now']));
    await job.takeNow(1, (free) => Promise.resolve(owned('caller', free)));
    leftOut.length = 0;
    signal.notify();
    await eventually(() => expect(begun.slice(2)).toEqual(['caller', 'later', 'later']));
    await stop();
  });

  test('leaves rows that a caller takes to the turns where an account has its part', async () => {
    const { job, begun, stop } = aSharedJob(owned(SLOW, 8));
    const places: number[] = [];
    await eventually(() => expect(begun).toHaveLength(8));
    await job.takeNow(1, (free) => {
      places.push(free);
      return Promise.resolve(owned(SLOW, free));
    });
    expect(places).toEqual([0]);
    await stop();
  });
});

test('where ends wake nothing, a free place does as long as more was due than there was room for', async () => {
  const due = rows('a', 'b', 'c');
  let asked = 0;
  const take = (limit: number) => {
    asked += 1;
    return Promise.resolve(due.splice(0, limit));
  };
  const { job, done } = aJob({ inFlightMax: 1, wakesAtEnds: false, sources: [{ max: 1, take }] });
  await eventually(() => expect(done).toEqual(['a', 'b', 'c']));
  expect(asked).toBeLessThanOrEqual(5);
  await job[Symbol.asyncDispose]();
});
