import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { schemasToMigrate } from '../../../deploy/schemas-of-services.ts';
import { dumpSchema } from './dump-schema.ts';
import { createMeshDatabase, type TestDatabase } from './test-database.ts';

let database: TestDatabase;

beforeAll(async () => {
  database = await createMeshDatabase('charges');
});

afterAll(() => database[Symbol.asyncDispose]());

test.each(schemasToMigrate())(
  'schema.sql of $service is the sum of its migrations (UPDATE_GOLDEN=1 refreshes it)',
  async ({ service, schema }) => {
    const golden = fileURLToPath(
      new URL(`../../../services/${service}/schema.sql`, import.meta.url),
    );
    const text = await dumpSchema(database.adminUrl, schema);
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, text);
    expect(existsSync(golden) ? readFileSync(golden, 'utf8') : '').toBe(text);
  },
);

test('two looks at the same schema give the same text', async () => {
  const looks = [dumpSchema(database.adminUrl, 'ledger'), dumpSchema(database.adminUrl, 'ledger')];
  const [first, second] = await Promise.all(looks);
  expect(first).toBe(second);
  expect(first).toContain('create table events');
  expect(first).not.toMatch(/events_2\d{5}|migrations \(/);
});
