import { createPrivateKey, X509Certificate } from 'node:crypto';

import { isCertificate, isPrivateKey } from '@pixmesh/kernel/pem';
import { z } from 'zod';

/** PEM texts: whom this side believes, its own certificate (with its chain) and that certificate's key. */
export type TlsIdentity = { ca: string; cert: string; key: string };

/** As settings give it, in variables `X_CA`, `X_CERT` and `X_KEY`: all three or none. */
type Given = { [Part in keyof TlsIdentity]: string | undefined };

/** A field for each of the three. */
export const TLS_FIELDS = {
  ca: pem('certificates', isCertificate),
  cert: pem('a certificate', isCertificate),
  key: pem('an unencrypted private key', isPrivateKey),
} as const;

/** Null where the three are not set. */
export function toTlsIdentity({ ca, cert, key }: Given): TlsIdentity | null {
  return ca && cert && key ? { ca, cert, key } : null;
}

/** What no variable shows alone, for `superRefine`; `prefix` is that of the variables. */
export function checkTlsIdentity(given: Given, prefix: string, context: z.RefinementCtx): void {
  const { ca, cert, key } = given;
  const missing = Object.entries({ ca, cert, key }).filter(([, value]) => value === undefined);
  if (missing.length === Object.keys(TLS_FIELDS).length) return;
  for (const [part] of missing) {
    issue(part, `expected with the other two of ${prefix}_CA, …_CERT and …_KEY`);
  }
  if (isCertificate(cert) && isPrivateKey(key) && !belongTogether(cert, key)) {
    issue('key', `expected the key of ${prefix}_CERT`);
  }

  function issue(part: string, message: string): void {
    context.addIssue({ code: 'custom', path: [`${prefix}_${part.toUpperCase()}`], message });
  }
}

function pem(what: string, isReadable: (text: string) => boolean) {
  return z
    .string()
    .refine(isReadable, { error: `expected ${what} as PEM text` })
    .optional();
}

function belongTogether(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}
