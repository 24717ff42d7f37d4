import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { generateApiKey, parseApiKey } from '@pixmesh/kernel/api-key';
import { expect, test } from 'vitest';

import { readRepositoryFile } from './repository-files.ts';

/** Keys of a receiver that only tests start. */
const FIXTURES = new Set([
  'packages/testkit/vectors/tls/receiver-key.pem',
  'services/webhook-dispatcher/vectors/tls/receiver-key.pem',
]);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** What is secret by its form alone, wherever it came from. */
const SECRETS: readonly [string, (text: string) => boolean][] = [
  ['an API key', (text) => candidates(text, /pxm_\w+/g).some((key) => parseApiKey(key) !== null)],
  [
    'a private key in PEM',
    (text) => /-----BEGIN [A-Z ]*PRIVATE KEY-----(\s|\\n)*[A-Za-z0-9+/=]{20}/.test(text),
  ],
  ['a private key as JWK', (text) => /"kty"/.test(text) && /"d"\s*:\s*"[\w-]{40,}"/.test(text)],
];

/** Those that are committed, and those that would be. */
const files = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
  { cwd: ROOT, encoding: 'utf8' },
)
  .split('\0')
  .filter((file) => file !== '' && !FIXTURES.has(file) && existsSync(path.join(ROOT, file)));

test('every file of the repository is read', () => {
  expect(files).toEqual(
    expect.arrayContaining(['.npmrc', 'deploy/Dockerfile', 'package-lock.json', 'README.md']),
  );
});

test.each(SECRETS)('no file holds %s', (_, isFound) => {
  expect(files.filter((file) => isFound(readRepositoryFile(file)))).toEqual([]);
});

test.each([
  ['an API key', () => generateApiKey().key],
  ['a private key in PEM', () => pem()],
  ['a private key as JWK', () => jwk()],
])('%s would be found', (form, make) => {
  const text = `const secret = '${make()}';`;
  expect(SECRETS.filter(([, isFound]) => isFound(text)).map(([name]) => name)).toEqual([form]);
});

function candidates(text: string, pattern: RegExp): string[] {
  return text.match(pattern) ?? [];
}

function pem(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function jwk(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return JSON.stringify(privateKey.export({ format: 'jwk' }));
}
