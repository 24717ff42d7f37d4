import { X509Certificate } from 'node:crypto';

import {
  type Certificate,
  exportAuthority,
  importAuthority,
  issueIdentity,
} from '@pixmesh/certificates/authority';
import { makeMeshAuthority, validityOf } from '@pixmesh/certificates/mesh-authority';
import { IDENTITY_FILES } from '@pixmesh/certificates/mesh-identity';
import { IdentityName } from '@pixmesh/contracts/internal/identities';

const DAY_MS = 86_400_000;
/** They are made anew at a start only, so they last longer than those that something renews by itself. */
const IDENTITY_DAYS = 365;
const RENEW_DAYS = 30;

/** Servers that are not ours; a container is asked for by its name. */
const SERVERS = ['kafka', 'postgres', 'redis'] as const;
/** The broker reaches itself by this name. */
const HOSTS = ['localhost'];

/** The authority of the mesh under this name, and `identity.<name>` for each process; JSON of certificate and key. */
const AUTHORITY = 'meshAuthority';

type Texts = Readonly<Record<string, string>>;

/** Adds the identities that are missing, and makes those anew that end within a month. */
export async function completeIdentities(existing: Texts, now: Date): Promise<Texts> {
  const stored = existing[AUTHORITY];
  const authority =
    stored === undefined ? await makeMeshAuthority(now) : await importAuthority(parse(stored));
  const made: Record<string, string> = { [AUTHORITY]: JSON.stringify(exportAuthority(authority)) };
  for (const name of [...IdentityName.options, ...SERVERS]) {
    const kept = existing[keyOf(name)];
    if (kept !== undefined && !endsSoon(parse(kept), now)) continue;
    const request = { name, hosts: HOSTS };
    const issued = await issueIdentity(authority, request, validityOf(now, IDENTITY_DAYS));
    made[keyOf(name)] = JSON.stringify(issued);
  }
  return { ...existing, ...made };
}

/** The folder of an identity among the files of its container, as `MESH_TLS_DIR` expects it. */
export function identityFiles(secrets: Texts, name: IdentityName | (typeof SERVERS)[number]) {
  const { cert, key } = parse(secrets[keyOf(name)] ?? '');
  return {
    ...authorityFile(secrets),
    [`identity/${IDENTITY_FILES.cert}`]: cert,
    [`identity/${IDENTITY_FILES.key}`]: key,
  };
}

/** For who only has to know the others. */
export function authorityFile(secrets: Texts): Record<string, string> {
  return { [`identity/${IDENTITY_FILES.ca}`]: parse(secrets[AUTHORITY] ?? '').cert };
}

/** Key and certificate in one file, as Kafka reads them. */
export function keyStore(secrets: Texts): Record<string, string> {
  const { cert, key } = parse(secrets[keyOf('kafka')] ?? '');
  return { 'keystore.pem': `${key}\n${cert}` };
}

function endsSoon({ cert }: Certificate, now: Date): boolean {
  return new X509Certificate(cert).validToDate.getTime() < now.getTime() + RENEW_DAYS * DAY_MS;
}

/** Written by `completeIdentities` only. */
function parse(text: string): Certificate {
  return JSON.parse(text) as Certificate;
}

function keyOf(name: string): string {
  return `identity.${name}`;
}
