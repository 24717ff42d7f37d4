import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSecrets } from './mesh-secrets.ts';

test('secrets are private to their owner and survive a restart', () => {
  const home = mkdtempSync(join(tmpdir(), 'pixmesh-secrets-'));
  const needed = { tokenServices: ['gateway'], schemas: ['gateway'] };
  const first = loadSecrets(home, needed);
  expect(loadSecrets(home, needed)).toEqual(first);
  expect(statSync(join(home, 'secrets.json')).mode & 0o777).toBe(0o600);
});
