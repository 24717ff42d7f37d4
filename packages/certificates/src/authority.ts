// The X.509 library finds its parts by metadata and refuses to load without this.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata';
import { createPrivateKey, KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';

import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

/** Both as PEM text. */
export type Certificate = { cert: string; key: string };

/** When a certificate holds; both ends in whole seconds. */
export type Validity = { notBefore: Date; notAfter: Date };

/** Signs certificates. */
export type Authority = {
  /** Its certificate, by which others know what it signed; PEM text. */
  cert: string;
  name: string;
  keys: webcrypto.CryptoKeyPair;
};

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const SERIAL_BYTES = 16;
/** The top bit of a serial number is its sign (RFC 5280, 4.1.2.2); another one keeps its length. */
const SERIAL_TOP_BYTE_MASK = 0x7f;
const SERIAL_TOP_BYTE_SET = 0x40;

export async function makeAuthority(name: string, validity: Validity): Promise<Authority> {
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: commonName(name),
    keys,
    signingAlgorithm: ALGORITHM,
    serialNumber: newSerialNumber(),
    ...validity,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: certificate.toString('pem'), name, keys };
}

/** The authority with its private key, as PEM texts, by which anybody can sign in its name. */
export function exportAuthority({ cert, keys }: Authority): Certificate {
  return { cert, key: toPem(keys.privateKey) };
}

/** An authority that was exported. */
export async function importAuthority({ cert, key }: Certificate): Promise<Authority> {
  const certificate = new X509Certificate(cert);
  const name = certificate.subjectName.getField('CN')[0] ?? '';
  const publicKey = await certificate.publicKey.export(ALGORITHM, ['verify']);
  const pkcs8 = createPrivateKey(key).export({ type: 'pkcs8', format: 'der' });
  const privateKey = await webcrypto.subtle.importKey('pkcs8', pkcs8, ALGORITHM, true, ['sign']);
  return { cert, name, keys: { publicKey, privateKey } };
}

/** A process that calls and is called: it is known by its name on either side, and also serves under `hosts`. */
export async function issueIdentity(
  authority: Authority,
  { name, hosts }: { name: string; hosts: readonly string[] },
  validity: Validity,
): Promise<Certificate> {
  return await issue(authority, {
    name,
    validity,
    extensions: [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      alternativeNames([name, ...hosts]),
    ],
  });
}

/** A server that answers under these names and addresses. */
export async function issueServerCertificate(
  authority: Authority,
  hosts: readonly string[],
  validity: Validity,
): Promise<Certificate> {
  return await issue(authority, {
    name: hosts[0] ?? '',
    validity,
    extensions: [
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      alternativeNames(hosts),
    ],
  });
}

/** A caller that shows who it is. */
export async function issueClientCertificate(
  authority: Authority,
  name: string,
  validity: Validity,
): Promise<Certificate> {
  const extensions = [new ExtendedKeyUsageExtension([ExtendedKeyUsage.clientAuth])];
  return await issue(authority, { name, validity, extensions });
}

async function issue(
  authority: Authority,
  subject: { name: string; validity: Validity; extensions: Extension[] },
): Promise<Certificate> {
  const keys = await makeKeys();
  const certificate = await X509CertificateGenerator.create({
    subject: commonName(subject.name),
    issuer: commonName(authority.name),
    publicKey: keys.publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: ALGORITHM,
    serialNumber: newSerialNumber(),
    ...subject.validity,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(authority.keys.publicKey),
      ...subject.extensions,
    ],
  });
  return { cert: `${certificate.toString('pem')}\n`, key: toPem(keys.privateKey) };
}

async function makeKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
}

function toPem(privateKey: webcrypto.CryptoKey): string {
  return String(KeyObject.from(privateKey).export({ type: 'pkcs8', format: 'pem' }));
}

function alternativeNames(names: readonly string[]): SubjectAlternativeNameExtension {
  return new SubjectAlternativeNameExtension(
    names.map((name) => ({ type: nameType(name), value: name })),
  );
}

function commonName(name: string): [{ CN: [string] }] {
  return [{ CN: [name] }];
}

function nameType(host: string): 'ip' | 'dns' {
  return isIP(host) === 0 ? 'dns' : 'ip';
}

/** Unique without a register: 126 random bits. */
function newSerialNumber(): string {
  const bytes = randomBytes(SERIAL_BYTES);
  bytes[0] = ((bytes[0] ?? 0) & SERIAL_TOP_BYTE_MASK) | SERIAL_TOP_BYTE_SET;
  return bytes.toString('hex');
}
