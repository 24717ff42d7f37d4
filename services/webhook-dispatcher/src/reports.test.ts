import { createLogger } from '@pixmesh/telemetry/logger';
import { expect, test } from 'vitest';

import { laneLost, lanesTakenOver } from './reports.ts';

test('a sender logs which lanes it has taken over or lost, and nothing where there are none', () => {
  const lines: unknown[] = [];
  const logger = createLogger('test', 'info', {
    write: (line) => void lines.push(JSON.parse(line)),
  });
  lanesTakenOver(logger, []);
  lanesTakenOver(logger, ['lane-1', 'lane-2']);
  laneLost(logger, 'lane-1');
  expect(lines).toMatchObject([
    { msg: 'lanes taken over from a sender whose lease had ended', lane_ids: ['lane-1', 'lane-2'] },
    { msg: 'lane lost to another sender', lane_id: 'lane-1' },
  ]);
});
