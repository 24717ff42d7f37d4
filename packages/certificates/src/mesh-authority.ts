import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';

import {
  type Authority,
  type Certificate,
  exportAuthority,
  importAuthority,
  issueIdentity,
  makeAuthority,
  type Validity,
} from './authority.ts';
import { commonNameOf, IDENTITY_FILES } from './mesh-identity.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AUTHORITY_DAYS = 3_650;
/** Clocks of one network may differ. */
const BACKDATED_MS = HOUR_MS;
/** Of a service. Short: a stolen one is worthless soon, and a renewal that no longer works is noticed. */
const IDENTITY_DAYS = 7;

const SECRET_FILE = 0o600;
const SECRET_FOLDER = 0o700;

/** A process of the mesh: its name, and the names and addresses under which it also serves. */
type IdentityRequest = {
  name: string;
  hosts: readonly string[];
  now: Date;
  days?: number;
  /** Certificates of authorities that it believes beside its own; PEM text. */
  trusted?: string | undefined;
};

/** A new authority of an installation. */
export async function makeMeshAuthority(now: Date): Promise<Authority> {
  return await makeAuthority('Pixmesh mesh authority', validityOf(now, AUTHORITY_DAYS));
}

/**
 * The authority of an installation, from `<folder>/ca.crt` and `<folder>/ca.key`, which only their owner can read. Made
 * at the first call.
 */
export async function openMeshAuthority(folder: string, now: Date): Promise<Authority> {
  const paths = { cert: join(folder, 'ca.crt'), key: join(folder, 'ca.key') };
  if (existsSync(paths.key)) {
    return await importAuthority({ cert: read(paths.cert), key: read(paths.key) });
  }
  const authority = await makeMeshAuthority(now);
  const { cert, key } = exportAuthority(authority);
  mkdirSync(folder, { recursive: true, mode: SECRET_FOLDER });
  // The key comes last: an authority without one is made again.
  writeWhole(paths.cert, cert);
  writeWhole(paths.key, key);
  return authority;
}

/**
 * Writes `ca.crt`, `tls.crt` and `tls.key` of a process into its folder, unless those that stand there still have half
 * of their life before them, are of this authority, belong together and are for all that is asked. Answers whether they
 * were written.
 */
export async function renewIdentity(
  authority: Authority,
  folder: string,
  { name, hosts, now, days = IDENTITY_DAYS, trusted }: IdentityRequest,
): Promise<boolean> {
  const ca = trusted === undefined ? authority.cert : `${authority.cert.trimEnd()}\n${trusted}\n`;
  if (!mustRenew(authority, folder, { name, hosts, now, ca })) return false;
  const validity = validityOf(now, days);
  const certificate = await issueIdentity(authority, { name, hosts }, validity);
  writeIdentity(folder, { ca, ...certificate });
  return true;
}

/** `ca` holds one certificate or several, of all authorities that this process shall believe. */
export function writeIdentity(folder: string, identity: Certificate & { ca: string }): void {
  mkdirSync(folder, { recursive: true, mode: SECRET_FOLDER });
  for (const part of ['ca', 'cert', 'key'] as const) {
    writeWhole(join(folder, IDENTITY_FILES[part]), identity[part]);
  }
}

function mustRenew(
  authority: Authority,
  folder: string,
  { name, hosts, now, ca }: { name: string; hosts: readonly string[]; now: Date; ca: string },
): boolean {
  try {
    const certificate = new X509Certificate(read(join(folder, IDENTITY_FILES.cert)));
    // A process that was killed between two files leaves a certificate with the key of the one before.
    const isPair = certificate.checkPrivateKey(
      createPrivateKey(read(join(folder, IDENTITY_FILES.key))),
    );
    const isOurs = certificate.verify(new X509Certificate(authority.cert).publicKey);
    const isComplete =
      commonNameOf(certificate) === name && hosts.every((host) => isFor(certificate, host));
    if (!isPair || !isOurs || !isComplete || read(join(folder, IDENTITY_FILES.ca)) !== ca)
      return true;
    const [from, to] = [certificate.validFromDate.getTime(), certificate.validToDate.getTime()];
    return now.getTime() > (from + to) / 2;
  } catch {
    return true;
  }
}

function isFor(certificate: X509Certificate, host: string): boolean {
  const found = isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host);
  return found !== undefined;
}

/** From now on, for so many days; as certificates write times, in whole seconds (RFC 5280, 4.1.2.5). */
export function validityOf(now: Date, days: number): Validity {
  const seconds = (ms: number): Date => new Date(Math.floor(ms / 1_000) * 1_000);
  return {
    notBefore: seconds(now.getTime() - BACKDATED_MS),
    notAfter: seconds(now.getTime() + days * DAY_MS),
  };
}

/** A reader finds the old file or the new one, never a part of either. */
function writeWhole(path: string, text: string): void {
  const draft = `${path}.${process.pid}.new`;
  writeFileSync(draft, text, { mode: SECRET_FILE });
  renameSync(draft, path);
}

function read(path: string): string {
  return readFileSync(path, 'utf8');
}
