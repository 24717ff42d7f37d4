import path from 'node:path';

import type { Authority } from '@pixmesh/certificates/authority';
import {
  makeMeshAuthority,
  openMeshAuthority,
  renewIdentity,
} from '@pixmesh/certificates/mesh-authority';
import { type IdentityTexts, readIdentity } from '@pixmesh/certificates/mesh-identity';
import { HOSTS, identityFolder, STACK_IDENTITIES } from '@pixmesh/local-stack/infra/identities';
import { readKeptPorts } from '@pixmesh/local-stack/ports/kept-ports';
import { eventually } from '@pixmesh/testkit/eventually';
import { fetchAs } from '@pixmesh/testkit/mesh-calls';
import { expect } from 'vitest';

import { homeOf } from '../mesh.ts';

/** Files are read again every 5 s. */
const FOLLOWED_MS = 15_000;

/**
 * A new authority of the mesh in the three steps of `docs/guides/rotate.md`: believed by all, then in use, then the only
 * one. Brokers read their files when they start; gateways and dispatchers the authority of Redis.
 */
export async function rotateAuthority(restart: (name: string) => Promise<unknown>) {
  const old = await openMeshAuthority(path.join(homeOf(), 'authority'), new Date());
  const next = await makeMeshAuthority(new Date());
  const stolen = ofCharges();
  return {
    steps: [() => renewAll(old, next.cert), () => renewAll(next, old.cert), () => renewAll(next)],
    refused: async () => {
      expect(await callLedger({ ...stolen, ca: next.cert })).toBe('no connection');
      expect(await callLedger(ofCharges())).toBe('answered');
    },
  };

  async function renewAll(authority: Authority, trusted?: string): Promise<void> {
    const now = new Date();
    for (const name of STACK_IDENTITIES) {
      const request = { name, hosts: HOSTS, now, trusted };
      await renewIdentity(authority, identityFolder(homeOf(), name), request);
    }
    const untilMs = performance.now() + FOLLOWED_MS;
    for (const name of ['kafka', 'gateway', 'webhook-dispatcher']) await restart(name);
    await eventually(() => expect(performance.now()).toBeGreaterThan(untilMs), FOLLOWED_MS);
  }
}

function ofCharges(): IdentityTexts {
  return readIdentity(identityFolder(homeOf(), 'charges'));
}

async function callLedger(identity: IdentityTexts): Promise<'answered' | 'no connection'> {
  const port = readKeptPorts(homeOf())?.ports['ledger'];
  const url = `https://127.0.0.1:${port}/`;
  return await fetchAs(identity, 'ledger', { url }).then(
    () => 'answered',
    () => 'no connection',
  );
}
