import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { lintMigrations } from './lint-migrations.ts';
import { listFiles } from './repository-files.ts';

/**
 * Migrations run while the version before serves calls: none may hold a lock for as long as a large table takes to be read
 * or written, and none may take away what that version uses.
 */

/**
 * The last file of each folder that was released before migrations were linted. Installations have applied what is up to
 * it, and a file that has shipped is never changed; a new one does not belong here.
 */
const RELEASED_UNLINTED: Readonly<Record<string, string>> = {
  'packages/postgres/migrations/acquirer-lists': '0002_return_contradictions.sql',
  'packages/postgres/migrations/dead-letters': '0003_dismissals.sql',
  'packages/postgres/migrations/message-schemas': '0001_message_schemas.sql',
  'packages/postgres/migrations/outbox': '0004_transaction_of_queued.sql',
  'packages/postgres/migrations/reconciliation': '0004_growth_of_breaks.sql',
  'services/acquirer-simulator/migrations': '0006_locations.sql',
  'services/charges/migrations': '0018_checks_in_turn.sql',
  'services/gateway/migrations': '0017_digests_of_callbacks.sql',
  'services/ledger/migrations': '0006_open_holds.sql',
  'services/payouts/migrations': '0009_due_at.sql',
  'services/webhook-dispatcher/migrations': '0018_indexes_of_unsent.sql',
};

const migrations = listFiles('{services/*/migrations,packages/postgres/migrations/*}/*.sql');

test('no migration holds a long lock, or takes away what the version before uses', () => {
  const isNew = (file: string) =>
    path.basename(file) > (RELEASED_UNLINTED[path.dirname(file)] ?? '');
  expect(lintMigrations(migrations.filter(isNew))).toEqual([]);
});

test('the list of migrations that are not linted names files that exist', () => {
  const named = Object.entries(RELEASED_UNLINTED).map(([folder, last]) => `${folder}/${last}`);
  expect(named.filter((file) => !migrations.includes(file))).toEqual([]);
});

test.each([
  [
    'an index built under a lock',
    'create index orders_at on orders (at);',
    'require-concurrent-index-creation',
  ],
  [
    'a type that rewrites the table',
    'alter table orders alter column cents type numeric;',
    'changing-column-type',
  ],
  [
    'a check that reads the table',
    'alter table orders add constraint orders_cents check (cents > 0);',
    'constraint-missing-not-valid',
  ],
  [
    'a column that the table has to be read for',
    'alter table orders alter column at set not null;',
    'adding-not-nullable-field',
  ],
  [
    'a foreign key that reads both tables',
    'alter table orders add constraint orders_shop foreign key (shop) references shops (id);',
    'adding-foreign-key-constraint',
  ],
  [
    'a unique index behind a constraint',
    'alter table orders add constraint orders_number unique (number);',
    'disallowed-unique-constraint',
  ],
  [
    'a default that is computed for each row',
    'alter table orders add column token uuid default gen_random_uuid();',
    'adding-field-with-default',
  ],
  [
    'a column that the version before reads',
    'alter table orders drop column at;',
    'ban-drop-column',
  ],
  [
    'a name that the version before uses',
    'alter table orders rename column at to created_at;',
    'renaming-column',
  ],
  [
    'a column that the version before does not write',
    'alter table orders add column kind text not null;',
    'adding-required-field',
  ],
])('a migration with %s is refused', (_what, statement, rule) => {
  expect(lintMigrations([planted(statement)])).toContainEqual(
    expect.stringContaining(`:1 ${rule}`),
  );
});

test.each([
  [
    'a table of its own',
    'create table refunds (id uuid primary key);\ncreate index on refunds (id);',
  ],
  ['a column that may be empty', 'alter table orders add column note text;'],
  [
    'a check for what comes from now on',
    'alter table orders add constraint orders_cents check (cents > 0) not valid;',
  ],
  [
    'a check that is validated in a file of its own',
    'alter table orders validate constraint orders_cents;',
  ],
  [
    'a finding with its reason',
    '-- Built concurrently before, see the changelog.\n-- squawk-ignore require-concurrent-index-creation\ncreate index if not exists orders_at on orders (at);',
  ],
])('a migration with %s passes', (_what, text) => {
  expect(lintMigrations([planted(text)])).toEqual([]);
});

function planted(text: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-lint-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, '0001_planted.sql');
  writeFileSync(file, `${text}\n`);
  return file;
}
