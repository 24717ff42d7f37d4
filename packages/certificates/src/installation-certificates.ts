import { X509Certificate } from 'node:crypto';

import {
  type Certificate,
  issueClientCertificate,
  issueServerCertificate,
  makeAuthority,
} from './authority.ts';

/** By which an acquirer that asks for client certificates and its one client know each other; PEM texts. */
export type InstallationCertificates = {
  /** Knows both others. */
  ca: string;
  server: Certificate;
  client: Certificate;
};

const DAY_MS = 86_400_000;
/** Clocks of one network may differ. */
const BACKDATED_MS = DAY_MS;
const VALID_DAYS = 825;
/** All are made anew, at a start, when less than this is left. */
const RENEW_DAYS = 30;

/** Makes a new authority and what it signs. Its key is not kept, so nothing more can be signed. */
export async function makeInstallationCertificates(input: {
  serverHosts: readonly string[];
  clientName: string;
  now: Date;
}): Promise<InstallationCertificates> {
  const { serverHosts, clientName, now } = input;
  const validity = {
    notBefore: wholeSeconds(now.getTime() - BACKDATED_MS),
    notAfter: wholeSeconds(now.getTime() + VALID_DAYS * DAY_MS),
  };
  const authority = await makeAuthority('Pixmesh installation', validity);
  return {
    ca: authority.cert,
    server: await issueServerCertificate(authority, serverHosts, validity),
    client: await issueClientCertificate(authority, clientName, validity),
  };
}

/** Whether they have to be made anew; also where one of them cannot be read. */
export function mustRenew(certificates: InstallationCertificates, now: Date): boolean {
  const { ca, server, client } = certificates;
  const renewAt = now.getTime() + RENEW_DAYS * DAY_MS;
  return [ca, server.cert, client.cert].some((pem) => endOf(pem) < renewAt);
}

function endOf(pem: string): number {
  try {
    return new X509Certificate(pem).validToDate.getTime();
  } catch {
    return Number.NEGATIVE_INFINITY;
  }
}

/** As certificates write times (RFC 5280, 4.1.2.5). */
function wholeSeconds(ms: number): Date {
  return new Date(Math.floor(ms / 1000) * 1000);
}
