import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { createStopList } from './stop-in-order.ts';

const logger = createLogger('test', 'silent');

test('a stop runs backwards, through failures, each step once', async () => {
  const stopped: string[] = [];
  const list = createStopList(logger);
  list.use('pool', { [Symbol.asyncDispose]: async () => void stopped.push('pool') });
  list.add('broken', () => {
    throw new Error('already gone');
  });
  list.add('consumers', async () => void stopped.push('consumers'));
  list.add('readiness', () => void stopped.push('readiness'));
  await list.stopAll();
  await list.stopAll();
  expect(stopped).toEqual(['readiness', 'consumers', 'pool']);
});

test('a step that never ends holds up the rest for its limit only, and the log names it', async () => {
  const lines: string[] = [];
  const log = createLogger('test', 'warn', { write: (line) => void lines.push(line) });
  const list = createStopList(log, 30);
  let poolStopped = false;
  list.add('pool', () => {
    poolStopped = true;
  });
  list.add('hanging', () => new Promise(() => undefined));
  await list.stopAll();
  expect(poolStopped).toBe(true);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"step":"hanging"');
});
