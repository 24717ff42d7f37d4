import { createPrivateKey, X509Certificate } from 'node:crypto';

import { issueServerCertificate, makeAuthority } from '@pixmesh/certificates/authority';
import { calculateJwkThumbprint, CompactSign, exportJWK } from 'jose';

export type PayloadSigner = {
  /** A JWS in compact form, as the Central Bank's security manual has it: `alg`, `kid`, `x5t` and `jku`. */
  sign(payload: object): Promise<string>;
  /** What `jku` serves: the one key, with the certificate that ties it to the host. */
  keySet(): Promise<object>;
};

const ALGORITHM = 'ES256';
const DAY_MS = 86_400_000;
/** Longer than any process lives; keys are made per process. */
const VALID_DAYS = 825;

/** Signs as the provider at this host. The key is made with the first payload, and forgotten with the process. */
export function createPayloadSigner(host: string, jku: string): PayloadSigner {
  let made: ReturnType<typeof makeKey> | null = null;
  return {
    sign: async (payload) => {
      const { privateKey, kid, x5t } = await key();
      return await new CompactSign(Buffer.from(JSON.stringify(payload)))
        .setProtectedHeader({ alg: ALGORITHM, kid, x5t, jku })
        .sign(privateKey);
    },
    keySet: async () => ({ keys: [(await key()).jwk] }),
  };

  async function key() {
    made ??= makeKey(host);
    return await made;
  }
}

async function makeKey(host: string) {
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  const validity = {
    notBefore: new Date(nowMs - DAY_MS),
    notAfter: new Date(nowMs + VALID_DAYS * DAY_MS),
  };
  const authority = await makeAuthority('Pixmesh acquirer simulator', validity);
  const { cert, key } = await issueServerCertificate(authority, [host], validity);
  const chain = [new X509Certificate(cert), new X509Certificate(authority.cert)] as const;
  const publicJwk = await exportJWK(chain[0].publicKey);
  const kid = await calculateJwkThumbprint(publicJwk);
  const x5t = thumbprintOf(chain[0]);
  const x5c = chain.map(({ raw }) => raw.toString('base64'));
  const jwk = { ...publicJwk, kid, x5t, x5c, alg: ALGORITHM, key_ops: ['verify'] };
  return { privateKey: createPrivateKey(key), kid, x5t, jwk };
}

/** SHA-1 by the standard (RFC 7515, 4.1.7): it names a certificate, the signature proves. */
function thumbprintOf({ fingerprint }: X509Certificate): string {
  return Buffer.from(fingerprint.replaceAll(':', ''), 'hex').toString('base64url');
}
