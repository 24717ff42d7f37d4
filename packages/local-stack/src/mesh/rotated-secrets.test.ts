import { mkdtempDisposableSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { clearSecretFiles, withSecretFiles } from '../secret-files.ts';
import { loadSecrets, type MeshSecrets } from './mesh-secrets.ts';

const NEEDED = { schemas: ['gateway'] };

afterEach(() => void vi.unstubAllEnvs());

/** What a boot does with the secrets of the gateway, `given` ones before those of the home. */
async function boot(home: string, given: Record<string, string> = {}): Promise<MeshSecrets> {
  const secrets = loadSecrets(home, NEEDED);
  clearSecretFiles(home);
  const own = { API_KEY_PEPPER: secrets.apiKeyPepper, CALLBACK_SECRET: secrets.callbackSecret };
  await withSecretFiles({ home, name: 'gateway' }, { ...own, ...given }).prepare();
  return secrets;
}

function changeFile(home: string, setting: string, text: string): void {
  writeFileSync(join(home, 'secrets', 'gateway', setting), text);
}

test('what was rotated in the files of the gateway is there after each later boot', async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), 'home-'));
  const { apiKeyPepper: old, callbackSecret } = await boot(home.path);
  changeFile(home.path, 'API_KEY_PEPPER', `2:next,${old}\n`);
  expect(await boot(home.path)).toMatchObject({ apiKeyPepper: `2:next,${old}`, callbackSecret });
  changeFile(home.path, 'API_KEY_PEPPER', '2:next');
  await boot(home.path);
  expect(await boot(home.path)).toMatchObject({ apiKeyPepper: '2:next', callbackSecret });
});

test('what the environment of one start gave is not taken for a rotation', async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), 'home-'));
  const own = await boot(home.path, { API_KEY_PEPPER: 'given' });
  expect(await boot(home.path)).toEqual(own);
  changeFile(home.path, 'API_KEY_PEPPER', '2:next,given');
  vi.stubEnv('API_KEY_PEPPER', 'given');
  expect(await boot(home.path)).toEqual(own);
});

test('an empty file is no rotation', async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), 'home-'));
  const own = await boot(home.path);
  changeFile(home.path, 'API_KEY_PEPPER', '\n');
  expect(await boot(home.path)).toEqual(own);
});
