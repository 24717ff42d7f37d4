import { expect, test } from 'vitest';

import { listLongParts } from './long-parts.ts';

test('each file with a larger count stands in one part, and each part has a name of its own', () => {
  const parts = listLongParts();
  const files = parts.flatMap((part) => part.files).filter((file) => !file.includes('/end/'));
  expect(files.length).toBeGreaterThan(40);
  expect(new Set(files).size).toBe(files.length);
  expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length);
});
