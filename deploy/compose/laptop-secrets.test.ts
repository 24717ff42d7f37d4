import { isSealingPrivateKeys } from '@pixmesh/kernel/sealed-secret-keys';
import { describe, expect, it } from 'vitest';

import { schemasToMigrate } from '../schemas-of-services.ts';
import { completeSecrets, renderSecretFiles } from './laptop-secrets.ts';

describe('secrets of a laptop', () => {
  it('are made once: completing them again changes nothing', () => {
    const secrets = completeSecrets({});
    expect(completeSecrets(secrets)).toEqual(secrets);
  });

  it('gain what a later version needs and keep the rest', () => {
    const { apiKeyPepper: _, ...older } = completeSecrets({});
    const completed = completeSecrets(older);
    expect(completed).toMatchObject(older);
    expect(completed['apiKeyPepper']).toHaveLength(43);
  });

  it('leave no file empty', () => {
    const contents = Object.values(renderSecretFiles(completeSecrets({}))).flatMap((files) =>
      Object.values(files),
    );
    expect(contents.length).toBeGreaterThan(20);
    expect(contents.filter((content) => content === '')).toEqual([]);
  });

  it('reach every service of the mesh', () => {
    const folders = Object.keys(renderSecretFiles(completeSecrets({})));
    const services = schemasToMigrate().map(({ service }) => service);
    expect(folders).toEqual(expect.arrayContaining(services));
  });

  it('show private keys to their owner only', () => {
    const { 'webhook-dispatcher': dispatcher, ...others } = renderSecretFiles(completeSecrets({}));
    const sealing = dispatcher?.['WEBHOOK_SEALING_PRIVATE_KEYS'] ?? '';
    expect(isSealingPrivateKeys(sealing)).toBe(true);
    expect(JSON.stringify(others)).not.toContain(JSON.stringify(sealing).slice(1, -1));
    const published = JSON.parse(dispatcher?.['SERVICE_TOKEN_PUBLIC_KEYS'] ?? '{}') as {
      keys: Record<string, unknown>[];
    };
    expect(published.keys.map((key) => key['kid'])).toContain('gateway');
    expect(published.keys.filter((key) => 'd' in key)).toEqual([]);
  });
});
