import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { migrateSchema } from '@pixmesh/postgres/migrate';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { schemasToMigrate } from '../../../deploy/schemas-of-services.ts';
import { dumpSchema } from './dump-schema.ts';
import { createMeshDatabase, type TestDatabase } from './test-database.ts';

/** A schema of the mechanisms and nothing else; its name stands for that of any service. */
const MECHANISMS = 'mechanisms';
const MECHANISMS_FILE = 'packages/postgres/mechanisms.sql';

let database: TestDatabase;
let mechanisms: string[];

beforeAll(async () => {
  database = await createMeshDatabase('charges');
  const noMigrations = mkdtempSync(path.join(tmpdir(), 'dump-schema-'));
  await migrateSchema({
    adminUrl: database.adminUrl,
    schema: MECHANISMS,
    mechanisms: ['outbox', 'dead-letters', 'message-schemas', 'reconciliation', 'acquirer-lists'],
    migrationsDir: noMigrations,
    password: 'test',
  });
  rmSync(noMigrations, { recursive: true });
  mechanisms = await dumpSchema(database.adminUrl, MECHANISMS);
});

afterAll(() => database[Symbol.asyncDispose]());

test('mechanisms.sql is the sum of the migrations of packages/postgres (UPDATE_GOLDEN=1 refreshes it)', () => {
  compareGolden(MECHANISMS_FILE, [
    '-- What services share: outbox, dead letters, message schemas, reconciliation.',
    ...mechanisms,
  ]);
});

test.each(schemasToMigrate())(
  'schema.sql of $service is the sum of its migrations (UPDATE_GOLDEN=1 refreshes it)',
  async ({ service, schema }) => {
    const statements = await dumpSchema(database.adminUrl, schema);
    const shared = new Set(mechanisms.map((text) => text.replaceAll(MECHANISMS, schema)));
    const names = statements.filter((text) => shared.has(text)).map(nameOf);
    compareGolden(`services/${service}/schema.sql`, [
      `-- Schema ${schema}: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.`,
      ...(names.length === 0 ? [] : [`-- As in ${MECHANISMS_FILE}: ${names.join(', ')}.`]),
      ...statements.filter((text) => !shared.has(text)),
    ]);
  },
);

test('two dumps of the same schema give the same text', async () => {
  const dumps = [dumpSchema(database.adminUrl, 'ledger'), dumpSchema(database.adminUrl, 'ledger')];
  const [first = [], second] = await Promise.all(dumps);
  expect(first).toEqual(second);
  expect(first.join('\n')).toContain('create table events');
  expect(first.join('\n')).not.toMatch(/events_2\d{5}|migrations \(/);
});

/** Rights stand line by line, everything else with a blank line between. */
function compareGolden(file: string, statements: readonly string[]): void {
  const golden = new URL(`../../../${file}`, import.meta.url);
  const text = statements.map((one, index) => {
    const isListed = /^(--|grant )/.test(one) && statements[index + 1]?.startsWith(one.slice(0, 2));
    return one + (isListed ? '\n' : '\n\n');
  });
  const whole = `${text.join('').trimEnd()}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, whole);
  expect(existsSync(golden) ? readFileSync(golden, 'utf8') : '').toBe(whole);
}

/** `table outbox`, `function uuid_v7_floor`, `grant on outbox`. */
function nameOf(statement: string): string {
  const [head = ''] = statement.toLowerCase().split(/ ?\(| to pixmesh_/);
  const words = head.replace(/^create (or replace )?/, '').split(' ');
  const name = (words.at(-1) ?? '').split('.').at(-1) ?? '';
  return words[0] === 'grant' ? `grant on ${name}` : `${words[0]} ${name}`;
}
