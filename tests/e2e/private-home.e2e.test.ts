import { lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';

import { expect, inject, test } from 'vitest';

/** The bits of a mode by which anybody but the owner reads or writes. */
const READ_OR_WRITE_BY_OTHERS = 0o066;

test('a file of the home of a running stack is read and written by its owner alone', () => {
  const home = inject('home');
  // The account of Postgres, where it is another one, passes through two folders; it is the owner of its own.
  const entries = readdirSync(home, { recursive: true, encoding: 'utf8' });
  expect(entries).toEqual(
    expect.arrayContaining(['stack.json', 'secrets.json', 'logs/gateway.log']),
  );
  const open = entries.filter((entry) => isOpen(path.join(home, entry)));
  expect(open).toEqual([]);
});

function isOpen(file: string): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || stat.isSymbolicLink()) return false;
  return (stat.mode & READ_OR_WRITE_BY_OTHERS) !== 0;
}
