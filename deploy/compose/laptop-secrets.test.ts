import { isSealingPrivateKeys } from '@pixmesh/kernel/sealed-secret-keys';
import { describe, expect, it } from 'vitest';

import { schemasToMigrate } from '../schemas-of-services.ts';
import {
  completeCertificates,
  completeSecrets,
  type LaptopSecrets,
  renderSecretFiles,
} from './laptop-secrets.ts';

const NOW = new Date('2026-11-21T12:00:00.000Z');

async function allSecrets(existing: LaptopSecrets = {}): Promise<LaptopSecrets> {
  return await completeCertificates(completeSecrets(existing), NOW);
}

describe('secrets of a laptop', () => {
  it('are made once: completing them again changes nothing', async () => {
    const secrets = await allSecrets();
    expect(await allSecrets(secrets)).toEqual(secrets);
  });

  it('gain what a later version needs and keep the rest', () => {
    const { apiKeyPepper: _, ...older } = completeSecrets({});
    const completed = completeSecrets(older);
    expect(completed).toMatchObject(older);
    expect(completed['apiKeyPepper']).toHaveLength(43);
  });

  it('make certificates anew before they end, and nothing else', async () => {
    const { certificates, ...others } = await allSecrets();
    const later = new Date(NOW.getTime() + 800 * 86_400_000);
    const renewed = await completeCertificates(
      { ...others, certificates: certificates ?? '' },
      later,
    );
    expect(renewed).toMatchObject(others);
    expect(renewed['certificates']).not.toBe(certificates);
  });

  it('leave no file empty', async () => {
    const contents = Object.values(renderSecretFiles(await allSecrets())).flatMap((files) =>
      Object.values(files),
    );
    expect(contents.length).toBeGreaterThan(20);
    expect(contents.filter((content) => content === '')).toEqual([]);
  });

  it('reach every service of the mesh', async () => {
    const folders = Object.keys(renderSecretFiles(await allSecrets()));
    const services = schemasToMigrate().map(({ service }) => service);
    expect(folders).toEqual(expect.arrayContaining(services));
  });

  it('show private keys to their owner only', async () => {
    const { 'webhook-dispatcher': dispatcher, ...others } = renderSecretFiles(await allSecrets());
    const sealing = dispatcher?.['WEBHOOK_SEALING_PRIVATE_KEYS'] ?? '';
    expect(isSealingPrivateKeys(sealing)).toBe(true);
    expect(JSON.stringify(others)).not.toContain(JSON.stringify(sealing).slice(1, -1));
  });

  it('give the acquirer and its client one key each', async () => {
    const files = renderSecretFiles(await allSecrets());
    const { TLS_KEY: ofServer } = files['acquirer-simulator'] ?? {};
    const { ACQUIRER_TLS_KEY: ofClient } = files['charges'] ?? {};
    const holdersOf = (key = '') =>
      Object.keys(files).filter((folder) => Object.values(files[folder] ?? {}).includes(key));
    expect(holdersOf(ofServer)).toEqual(['acquirer-simulator']);
    expect(holdersOf(ofClient)).toEqual(['callback', 'charges', 'payouts']);
  });
});
