import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { openMeshAuthority, renewIdentity } from '@pixmesh/certificates/mesh-authority';
import { IdentityName } from '@pixmesh/contracts/internal/identities';
import { isCertificate } from '@pixmesh/kernel/pem';
import { ConfigError, EnvironmentConfig, readConfig } from '@pixmesh/service/config';
import { z } from 'zod';

/** `tools` is for laptops alone. */
const OURS = IdentityName.options.filter((name) => name !== 'tools');
const SERVERS_EXPECTED =
  'expected name=host, separated by commas, with names of a-z and - that no process of the mesh has';

type Server = { name: string; host: string };

export const IdentitiesConfig = z.object({
  ...EnvironmentConfig,
  /** `ca.crt` and `ca.key`; made where there is no key. */
  MESH_AUTHORITY_DIR: z.string({ error: 'expected the path of a folder' }),
  /** Gets a folder for each identity. */
  MESH_IDENTITIES_DIR: z.string({ error: 'expected the path of a folder' }),
  /** Servers that are not ours, such as brokers, and the addresses they are dialled by. */
  MESH_SERVER_HOSTS: z
    .string()
    .regex(/^[a-z-]+=[^=,\s]+(,[a-z-]+=[^=,\s]+)*$/, { error: SERVERS_EXPECTED })
    .transform((text) => text.split(',').map(toServer))
    .refine((servers) => servers.every(({ name }) => !IdentityName.safeParse(name).success), {
      error: SERVERS_EXPECTED,
    })
    .optional(),
  /** Authorities that are believed beside this one, while one takes the place of the other. */
  MESH_TRUSTED_CA: z
    .string()
    .refine(isCertificate, { error: 'expected certificates as PEM text' })
    .optional(),
});

/**
 * Makes the authority of an installation where nothing has been issued yet, and writes each identity that has passed
 * half of its life, that lacks one of its hosts, or that shall believe other authorities than it does. Safe to repeat:
 * to be run each day. Answers the names of those that were written.
 */
export async function issueIdentities(
  env: NodeJS.ProcessEnv = process.env,
  now: Date = new Date(),
): Promise<string[]> {
  const config = readConfig(IdentitiesConfig, env);
  const { MESH_AUTHORITY_DIR: home, MESH_TRUSTED_CA: trusted } = config;
  const requests = identitiesOf(config.MESH_SERVER_HOSTS ?? []).map(({ name, hosts }) => {
    return { folder: join(config.MESH_IDENTITIES_DIR, name), name, hosts };
  });
  // Another authority at once would cut off every process that has not read its files again.
  const hasIssued = requests.some(({ folder }) => existsSync(folder));
  if (hasIssued && !existsSync(join(home, 'ca.key'))) {
    throw new ConfigError('MESH_AUTHORITY_DIR: expected ca.key, since identities were issued');
  }
  const authority = await openMeshAuthority(home, now);
  const written: string[] = [];
  for (const { folder, name, hosts } of requests) {
    if (await renewIdentity(authority, folder, { name, hosts, now, trusted })) written.push(name);
  }
  return written;
}

/** Our processes are known by their names alone, whatever address is dialled. */
function identitiesOf(servers: readonly Server[]): { name: string; hosts: string[] }[] {
  const names = new Set([...OURS, ...servers.map(({ name }) => name)]);
  return [...names].map((name) => ({
    name,
    hosts: servers.filter((server) => server.name === name).map(({ host }) => host),
  }));
}

function toServer(pair: string): Server {
  const [name = '', host = ''] = pair.split('=');
  return { name, host };
}
