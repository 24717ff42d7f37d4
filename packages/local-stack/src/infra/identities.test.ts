import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { readIdentity } from '@pixmesh/certificates/mesh-identity';
import { IdentityName } from '@pixmesh/contracts/internal/identities';
import { expect, it } from 'vitest';

import { identityFolder, issueIdentities } from './identities.ts';

it('everything that runs in a home has a certificate of its one authority, which a second start keeps', async () => {
  using home = mkdtempDisposableSync(join(tmpdir(), 'home-'));
  await issueIdentities(home.path);
  const read = () =>
    [...IdentityName.options, 'kafka' as const, 'postgres' as const, 'redis' as const].map((name) =>
      readIdentity(identityFolder(home.path, name)),
    );
  const first = read();
  expect(new Set(first.map(({ ca }) => ca)).size).toBe(1);
  expect(new Set(first.map(({ key }) => key)).size).toBe(first.length);
  await issueIdentities(home.path);
  expect(read()).toEqual(first);
});
