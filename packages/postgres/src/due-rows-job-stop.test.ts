import { createWakeSignal } from '@pixmesh/service/wake-signal';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { expect, test } from 'vitest';

import { startDueRowsJob } from './due-rows-job.ts';

test('a job that takes no more leaves what is due, tells the work in hand, and still takes what a caller gives it', async () => {
  const due = ['a'];
  const gate = Promise.withResolvers<void>();
  const ended: [string, boolean][] = [];
  const signal = createWakeSignal();
  const job = startDueRowsJob<string>({
    name: 'test job',
    logger: createLogger('test', 'silent'),
    signal,
    inFlightMax: 4,
    sources: [{ max: 4, take: async (limit) => due.splice(0, limit) }],
    handle: async (row, stopping) => {
      await gate.promise;
      ended.push([row, stopping.aborted]);
    },
    describe: (row) => ({ row }),
    parentOf: () => null,
  });
  await eventually(() => expect(due).toEqual([]));
  job.takeNoMore();
  due.push('b');
  signal.notify();
  await job.takeNow(1, async (places) => ['c'].slice(0, places));
  gate.resolve();
  await job[Symbol.asyncDispose]();
  expect(ended).toEqual([
    ['a', true],
    ['c', true],
  ]);
  expect(due).toEqual(['b']);
});
