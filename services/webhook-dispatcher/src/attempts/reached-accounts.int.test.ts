import { newId } from '@pixmesh/kernel/ids';
import { eventually } from '@pixmesh/testkit/eventually';
import { freePorts } from '@pixmesh/testkit/free-ports';
import { createTestDatabase } from '@pixmesh/testkit/test-database';
import { expect, test } from 'vitest';

import { aBacklog } from '#test/a-backlog.ts';
import { startDispatcherProcess } from '#test/dispatcher-process.ts';
import { startReceiver } from '#test/start-receiver.ts';
import { testEnvironment } from '#test/test-dispatcher.ts';

test('a sender shows to how many accounts it has sent without reaching any of their receivers', async () => {
  await using database = await createTestDatabase('webhook_dispatcher');
  await using receiver = await startReceiver();
  const [closedPort] = await freePorts(1);
  const names = { live: receiver.port, away: closedPort };
  const aLane = (accountId: string, name: keyof typeof names) =>
    aBacklog(database.db, {
      laneId: newId(),
      accountId,
      count: 1,
      url: `http://${name}.receiver.example.com/hook`,
    });
  const half = newId();
  await aLane(half, 'live');
  await aLane(half, 'away');
  for (let accounts = 0; accounts < 3; accounts += 1) await aLane(newId(), 'away');
  await using sender = await startDispatcherProcess({
    ...testEnvironment({ databaseUrl: database.url, receiverPort: receiver.port }),
    WEBHOOK_DEV_RECEIVERS: Object.entries(names)
      .map(([name, port]) => `${name}.receiver.example.com=127.0.0.1:${port}`)
      .join(','),
    ROLES: 'sender',
  });
  await eventually(async () => {
    expect(await sender.readCounter('webhook_tried_accounts', 'reached="no"')).toBe(3);
    expect(await sender.readCounter('webhook_tried_accounts', 'reached="yes"')).toBe(1);
    expect(await sender.readCounter('webhook_attempts_total', 'reason="connect_failed"')).toBe(4);
  }, 20_000);
}, 90_000);
