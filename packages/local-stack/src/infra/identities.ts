import { join } from 'node:path';
import { openMeshAuthority, renewIdentity } from '@pixmesh/certificates/mesh-authority';
import { IDENTITY_FILES } from '@pixmesh/certificates/mesh-identity';
import { IdentityName } from '@pixmesh/contracts/internal/identities';

/** Servers that are not ours, and are asked for by address. */
const SERVERS = ['kafka', 'postgres', 'redis'] as const;

/** Of servers: Kafka reads its own again at its next start only, which may be far away. */
const SERVER_DAYS = 400;

export const HOSTS = ['127.0.0.1', 'localhost'];
const RENEWAL_CHECK_MS = 3_600_000;

/** Who has an identity in a home: processes of the mesh, and the stores that they use. */
export const STACK_IDENTITIES = [...IdentityName.options, ...SERVERS];
export type StackIdentity = (typeof STACK_IDENTITIES)[number];

/**
 * Makes the authority of a home at its first start, and the certificates of everything that runs there; renews those
 * that have passed half of their life.
 */
export async function issueIdentities(home: string): Promise<void> {
  const now = new Date();
  const authority = await openMeshAuthority(join(home, 'authority'), now);
  for (const name of IdentityName.options) {
    await renewIdentity(authority, identityFolder(home, name), { name, hosts: HOSTS, now });
  }
  for (const name of SERVERS) {
    const request = { name, hosts: HOSTS, now, days: SERVER_DAYS };
    await renewIdentity(authority, identityFolder(home, name), request);
  }
}

/** Renews while a stack is up; its processes follow the files. */
export function keepIdentitiesFresh(home: string, onError: (error: unknown) => void): Disposable {
  const timer = setInterval(() => {
    issueIdentities(home).catch(onError);
  }, RENEWAL_CHECK_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

export interface IdentityPaths {
  ca: string;
  cert: string;
  key: string;
}

/** The files of one identity. */
export function identityPaths(home: string, name: StackIdentity): IdentityPaths {
  const pathOf = (part: keyof IdentityPaths) =>
    join(identityFolder(home, name), IDENTITY_FILES[part]);
  return { ca: pathOf('ca'), cert: pathOf('cert'), key: pathOf('key') };
}

/** The folder with `ca.crt`, `tls.crt` and `tls.key` of one identity. */
export function identityFolder(home: string, name: StackIdentity): string {
  return join(home, 'identities', name);
}
