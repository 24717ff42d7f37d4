import { readFileSync } from 'node:fs';

import { EFI_DIALECT } from '@pixmesh/acquirer/testing/efi-dialect';
import { expect, test } from 'vitest';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const TABLE = /### Where it deviates from the Central Bank's document\n.*?(\|.*?)\n\n/s;

test('the README lists every deviation from the document, with its reason, and no other', () => {
  const [, , ...rows] = (TABLE.exec(README)?.[1] ?? '').split('\n');
  const expected = EFI_DIALECT.map(
    ({ operation, what, reason }) => `| \`${operation}\` | ${what} | ${reason} |`,
  );
  expect(rows).toEqual(expected);
});
