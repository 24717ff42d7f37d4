import { PAYOUT_COMMANDS } from '@pixmesh/contracts/messages/ledger-command.v1';
import { HoldReleased } from '@pixmesh/contracts/messages/ledger-event.v1';
import { MESSAGE_SAMPLES } from '@pixmesh/contracts/test/message-samples';
import { newId } from '@pixmesh/kernel/ids';
import type { Database } from '@pixmesh/postgres/pool';
import { sql } from '@pixmesh/postgres/sql';
import { createTestDatabase, type TestDatabase } from '@pixmesh/testkit/test-database';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';

import { outcomeHandlers } from './outcome-handlers.ts';

const COMMANDS = 50;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase('payouts');
});
afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

test('commands that are answered one after the other end by ten statements a second, all of them before a stop', async () => {
  const commandIds = Array.from({ length: COMMANDS }, () => newId());
  await database.db.query(sql`
    insert into unanswered_commands (command_id, event_id)
    select command_id, command_id from unnest(${commandIds}::uuid[]) as command_id`);
  let statements = 0;
  const query: Database['query'] = (statement) => {
    statements += 1;
    return database.db.query(statement);
  };
  const { handle, settled } = handlerOfReleases({ ...database.db, query });
  const startedMs = performance.now();
  for (const commandId of commandIds) {
    await handle(anOutcome(commandId));
    // Long enough for a statement of its own.
    await countUnanswered();
  }
  await settled();
  const tenths = Math.ceil((performance.now() - startedMs) / 100);
  expect(await countUnanswered()).toBe(0);
  expect(statements).toBeLessThanOrEqual(tenths);
});

test('an outcome that its schema refuses is parked, also where only its command is ended', async () => {
  const { handle } = handlerOfReleases(database.db);
  const outcome = { ...anOutcome(newId()), occurred_at: 'yesterday' };
  await expect(handle(outcome)).rejects.toMatchObject({ code: 'MESSAGE_INVALID' });
});

function handlerOfReleases(db: Database) {
  const commands = Object.keys(PAYOUT_COMMANDS) as (keyof typeof PAYOUT_COMMANDS)[];
  const { handlers, settled } = outcomeHandlers({ db, commands, holdKind: 'payout' }, []);
  const { handle } = handlers.find(({ message }) => message.type === HoldReleased.type)!;
  return { handle, settled };
}

/** As it stands on the topic. */
function anOutcome(commandId: string): object {
  const sample = z.encode(HoldReleased.schema, MESSAGE_SAMPLES[HoldReleased.type] as never);
  return { ...sample, data: { ...sample.data, command_id: commandId } };
}

async function countUnanswered(): Promise<number> {
  const rows = await database.db.query(sql`select from unanswered_commands`);
  return rows.length;
}
