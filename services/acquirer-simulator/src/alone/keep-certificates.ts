import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import {
  type InstallationCertificates,
  makeInstallationCertificates,
  mustRenew,
} from '@pixmesh/certificates/installation-certificates';

/** Paths of PEM files. */
export type CertificateFiles = {
  ca: string;
  serverCert: string;
  serverKey: string;
  clientCert: string;
  clientKey: string;
};

const PRIVATE = 0o600;

/** Certificates for the simulator and its client, made on first use and again before they end. */
export async function keepCertificates(folder: string): Promise<CertificateFiles> {
  const files = {
    ca: path.join(folder, 'ca.pem'),
    serverCert: path.join(folder, 'server.pem'),
    serverKey: path.join(folder, 'server-key.pem'),
    clientCert: path.join(folder, 'client.pem'),
    clientKey: path.join(folder, 'client-key.pem'),
  };
  const now = new Date();
  const kept = readKept(files);
  if (kept !== null && !mustRenew(kept, now)) return files;
  const made = await makeInstallationCertificates({
    serverHosts: ['localhost', '127.0.0.1'],
    clientName: 'client',
    now,
  });
  mkdirSync(folder, { recursive: true });
  const texts = {
    ca: made.ca,
    serverCert: made.server.cert,
    serverKey: made.server.key,
    clientCert: made.client.cert,
    clientKey: made.client.key,
  };
  for (const [name, text] of Object.entries(texts)) {
    writeFileSync(files[name as keyof CertificateFiles], text, { mode: PRIVATE });
  }
  return files;
}

function readKept(files: CertificateFiles): InstallationCertificates | null {
  if (!Object.values(files).every((file) => existsSync(file))) return null;
  return {
    ca: readFileSync(files.ca, 'utf8'),
    server: pairOf(files.serverCert, files.serverKey),
    client: pairOf(files.clientCert, files.clientKey),
  };
}

function pairOf(cert: string, key: string): { cert: string; key: string } {
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}
