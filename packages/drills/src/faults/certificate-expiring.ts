import path from 'node:path';

import { issueIdentity } from '@pixmesh/certificates/authority';
import { openMeshAuthority, writeIdentity } from '@pixmesh/certificates/mesh-authority';
import { HOSTS, identityFolder, issueIdentities } from '@pixmesh/local-stack/infra/identities';

import type { Drill } from '../drill.ts';

const SERVICE = 'payouts';
const EXPIRES = 'certificate_expires_timestamp_seconds';
/** Of a day and an hour, the hour is left. */
const USED_MS = 86_400_000;
const LEFT_MS = 3_600_000;

let expiresBefore = 0;

/** Processes follow the files of their identity, whoever writes them. */
export const certificateExpiring: Drill = {
  name: 'certificate-expiring',
  purpose: 'the certificate of payouts has used up nine tenths of its life',
  alerts: ['CertificateExpiring'],
  cause: async (mesh) => {
    expiresBefore = await mesh.metric(SERVICE, EXPIRES);
    const authority = await openMeshAuthority(path.join(mesh.home, 'authority'), new Date());
    const certificate = await issueIdentity(
      authority,
      { name: SERVICE, hosts: HOSTS },
      nearlyOver(),
    );
    writeIdentity(identityFolder(mesh.home, SERVICE), { ca: authority.cert, ...certificate });
  },
  effect: async (mesh) => {
    const expires = await mesh.metric(SERVICE, EXPIRES);
    if (expires >= expiresBefore) throw new Error('the certificate is not in use');
  },
  // The job that renews, once it runs again.
  end: async (mesh) => await issueIdentities(mesh.home),
  recovered: async (mesh) => {
    const expires = await mesh.metric(SERVICE, EXPIRES);
    if (expires < expiresBefore) throw new Error('the new certificate is not in use');
  },
};

/** As certificates write times, in whole seconds. */
function nearlyOver(): { notBefore: Date; notAfter: Date } {
  const nowMs = Math.floor(Date.now() / 1_000) * 1_000;
  return { notBefore: new Date(nowMs - USED_MS), notAfter: new Date(nowMs + LEFT_MS) };
}
