import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { createStopList } from './stop-in-order.ts';

function aPart(stop: () => Promise<void>): AsyncDisposable {
  return { [Symbol.asyncDispose]: stop };
}

test('a stop runs backwards, through failures, each part once', async () => {
  const stopped: string[] = [];
  const list = createStopList(createLogger('test', 'silent'));
  for (const name of ['pool', 'broken', 'consumers', 'http']) {
    const part = aPart(async () => {
      if (name === 'broken') throw new Error('already gone');
      stopped.push(name);
    });
    expect(list.use(name, part)).toBe(part);
  }
  await list.stopAll();
  await list.stopAll();
  expect(stopped).toEqual(['http', 'consumers', 'pool']);
});

test('a part that never stops holds up the rest for its limit only, and the log names it', async () => {
  const lines: string[] = [];
  const log = createLogger('test', 'warn', { write: (line) => void lines.push(line) });
  const list = createStopList(log);
  let poolStopped = false;
  list.use(
    'pool',
    aPart(async () => {
      poolStopped = true;
    }),
  );
  list.use(
    'hanging',
    aPart(() => new Promise(() => undefined)),
    30,
  );
  await list.stopAll();
  expect(poolStopped).toBe(true);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toContain('"part":"hanging"');
});
