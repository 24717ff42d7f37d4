import path from 'node:path';

import { issueIdentity } from '@pixmesh/certificates/authority';
import { openMeshAuthority, validityOf, writeIdentity } from '@pixmesh/certificates/mesh-authority';
import { HOSTS, identityFolder, issueIdentities } from '@pixmesh/local-stack/infra/identities';

import type { Drill } from '../drill.ts';

const SERVICE = 'payouts';
const EXPIRES = 'certificate_expires_timestamp_seconds';
const DAY_MS = 86_400_000;
/** From a day ago: an hour is left. */
const VALID_DAYS = 25 / 24;

let expiresBefore = 0;

/** A process takes up new files of its identity by itself. */
export const certificateExpiring: Drill = {
  name: 'certificate-expiring',
  purpose: 'the certificate of payouts has used up nine tenths of its life',
  alerts: ['MeshCertificateNotRenewed', 'CertificateExpiring'],
  cause: async (mesh) => {
    expiresBefore = await mesh.metric(SERVICE, EXPIRES);
    const authority = await openMeshAuthority(path.join(mesh.home, 'authority'), new Date());
    const validity = validityOf(new Date(Date.now() - DAY_MS), VALID_DAYS);
    const certificate = await issueIdentity(authority, { name: SERVICE, hosts: HOSTS }, validity);
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
