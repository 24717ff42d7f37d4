import { X509Certificate } from 'node:crypto';
import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadCertificates, loadSecrets } from './mesh-secrets.ts';

const NEEDED = { schemas: ['gateway'] };
const DAY_MS = 86_400_000;

function aHome(): string {
  return mkdtempSync(join(tmpdir(), 'pixmesh-secrets-'));
}

test('secrets are private to their owner and survive a restart', () => {
  const home = aHome();
  const first = loadSecrets(home, NEEDED);
  expect(loadSecrets(home, NEEDED)).toEqual(first);
  expect(statSync(join(home, 'secrets.json')).mode & 0o777).toBe(0o600);
});

test('certificates survive a restart and are made anew a month before their end, secrets are not', async () => {
  const home = aHome();
  const now = new Date();
  const first = await loadCertificates(home, loadSecrets(home, NEEDED), now);
  expect(await loadCertificates(home, loadSecrets(home, NEEDED), now)).toEqual(first);
  const endsAt = new X509Certificate(first.client.cert).validToDate.getTime();
  const before = loadSecrets(home, NEEDED);
  const last = new Date(endsAt - 31 * DAY_MS);
  expect(await loadCertificates(home, loadSecrets(home, NEEDED), last)).toEqual(first);
  const due = new Date(endsAt - 29 * DAY_MS);
  const renewed = await loadCertificates(home, loadSecrets(home, NEEDED), due);
  expect(renewed.ca).not.toBe(first.ca);
  expect(loadSecrets(home, NEEDED)).toEqual({ ...before, certificates: renewed });
  expect(statSync(join(home, 'secrets.json')).mode & 0o777).toBe(0o600);
});
