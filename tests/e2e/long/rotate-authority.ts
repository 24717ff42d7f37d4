import path from 'node:path';

import { type Authority, issueIdentity } from '@pixmesh/certificates/authority';
import {
  makeMeshAuthority,
  openMeshAuthority,
  validityOf,
  writeIdentity,
} from '@pixmesh/certificates/mesh-authority';
import { type IdentityTexts, readIdentity } from '@pixmesh/certificates/mesh-identity';
import { IdentityName } from '@pixmesh/contracts/internal/identities';
import { identityFolder } from '@pixmesh/local-stack/infra/identities';
import { readKeptPorts } from '@pixmesh/local-stack/ports/kept-ports';
import { eventually } from '@pixmesh/testkit/eventually';
import { fetchAs } from '@pixmesh/testkit/mesh-calls';
import { expect } from 'vitest';

import { homeOf } from '../mesh.ts';

/** Everything that has a certificate of the mesh's authority: its processes, and the stores that they use. */
const HOLDERS = [...IdentityName.options, 'kafka', 'postgres', 'redis'] as const;
const HOSTS = ['127.0.0.1', 'localhost'];
const DAYS = 7;
/** Files are read again every 5 s. */
const FOLLOWED_MS = 15_000;

/**
 * A new authority of the mesh in the three steps of `docs/guides/rotate.md`: believed by all, then in use, then the only
 * one. Brokers read their files when they start; gateways and dispatchers the authority of Redis.
 */
export async function rotateAuthority(restart: (name: string) => Promise<unknown>) {
  const old = await openMeshAuthority(path.join(homeOf(), 'authority'), new Date());
  const next = await makeMeshAuthority(new Date());
  const stolen = identityOf('charges');
  const both = `${old.cert.trimEnd()}\n${next.cert}`;
  return {
    steps: [
      async () => {
        for (const name of HOLDERS) write(name, { ...identityOf(name), ca: both });
        await followed();
      },
      async () => {
        for (const name of HOLDERS) write(name, { ...(await issue(next, name)), ca: both });
        await followed();
      },
      async () => {
        for (const name of HOLDERS) write(name, { ...identityOf(name), ca: next.cert });
        await followed();
      },
    ],
    refused: async () => {
      expect(await callLedger({ ...stolen, ca: next.cert })).toBe('no connection');
      expect(await callLedger(identityOf('charges'))).toBe('answered');
    },
  };

  async function followed(): Promise<void> {
    const untilMs = performance.now() + FOLLOWED_MS;
    for (const name of ['kafka', 'gateway', 'webhook-dispatcher']) await restart(name);
    await eventually(() => expect(performance.now()).toBeGreaterThan(untilMs), FOLLOWED_MS);
  }
}

type Holder = (typeof HOLDERS)[number];

function identityOf(name: Holder): IdentityTexts {
  return readIdentity(identityFolder(homeOf(), name));
}

function write(name: Holder, identity: IdentityTexts): void {
  writeIdentity(identityFolder(homeOf(), name), identity);
}

async function issue(authority: Authority, name: Holder) {
  return await issueIdentity(authority, { name, hosts: HOSTS }, validityOf(new Date(), DAYS));
}

async function callLedger(identity: IdentityTexts): Promise<'answered' | 'no connection'> {
  const port = readKeptPorts(homeOf())?.ports['ledger'];
  const url = `https://127.0.0.1:${port}/`;
  return await fetchAs(identity, 'ledger', { url }).then(
    () => 'answered',
    () => 'no connection',
  );
}
