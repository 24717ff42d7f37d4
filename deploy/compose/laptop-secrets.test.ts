import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

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
    const changed = Object.keys(renewed).filter((name) => renewed[name] !== others[name]);
    const ofMesh = Object.keys(others).filter((name) => name.startsWith('identity.'));
    expect(ofMesh.length).toBeGreaterThan(5);
    expect(changed.toSorted()).toEqual(['certificates', ...ofMesh].toSorted());
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

  it('show the private keys of webhooks to senders only', async () => {
    const { 'webhook-dispatcher-sender': sender, ...others } = renderSecretFiles(
      await allSecrets(),
    );
    const sealing = sender?.['WEBHOOK_SEALING_PRIVATE_KEYS'] ?? '';
    expect(isSealingPrivateKeys(sealing)).toBe(true);
    expect(JSON.stringify(others)).not.toContain(JSON.stringify(sealing).slice(1, -1));
  });

  it('give each service an identity of its own, and the superuser’s password to one job', async () => {
    const files = renderSecretFiles(await allSecrets());
    const holdersOf = (file: string) =>
      Object.keys(files).filter((folder) => files[folder]?.[file] !== undefined);
    const identities = holdersOf('identity/tls.key').filter(
      (folder) => folder !== 'webhook-dispatcher-sender',
    );
    const owned = ['charges', 'deploy', 'gateway', 'kafka', 'ledger', 'payouts', 'postgres'];
    expect(identities.toSorted()).toEqual([...owned, 'redis', 'webhook-dispatcher']);
    for (const folder of identities) {
      const { 'identity/ca.crt': ca = '', 'identity/tls.crt': cert = '' } = files[folder] ?? {};
      const certificate = new X509Certificate(cert);
      expect(certificate.subject).toBe(`CN=${folder}`);
      expect(certificate.verify(new X509Certificate(ca).publicKey)).toBe(true);
    }
    expect(new Set(identities.map((folder) => files[folder]?.['identity/tls.key'])).size).toBe(9);
    // Roles of the dispatcher are one service.
    expect(files['webhook-dispatcher-sender']?.['identity/tls.crt']).toBe(
      files['webhook-dispatcher']?.['identity/tls.crt'],
    );
    expect(holdersOf('SUPERUSER_DATABASE_URL')).toEqual(['owner']);
  });

  it('stand where the compose file looks for them', async () => {
    const files = renderSecretFiles(await allSecrets());
    const text = readFileSync(new URL('../../docker-compose.yml', import.meta.url), 'utf8');
    const written = new Set(Object.values(files).flatMap((one) => Object.keys(one)));
    const wanted = [...text.matchAll(/\/run\/secrets\/([\w./-]+)/g)].map(([, file]) =>
      String(file),
    );
    expect(wanted.length).toBeGreaterThan(30);
    expect(wanted.filter((file) => !written.has(file) && file !== 'identity')).toEqual([]);
    const folders = [...text.matchAll(/subpath: ([\w-]+)/g)].map(([, folder]) => String(folder));
    expect(folders.filter((folder) => files[folder] === undefined)).toEqual([]);
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
