import { createPrivateKey, X509Certificate } from 'node:crypto';

import { isCertificate, isPrivateKey } from '@pixmesh/kernel/pem';
import { z } from 'zod';

/** PEM texts: whom this side believes, its own certificate (with its chain) and that certificate's key. */
export type TlsIdentity = { ca: string; cert: string; key: string };

type Settings = Readonly<Record<string, unknown>>;

/**
 * The variables `X_CA`, `X_CERT` and `X_KEY` by which one side of mutual TLS is set up: all three or none. `check` is for
 * `superRefine` of a schema that holds `shape`.
 */
export function tlsIdentity<const Prefix extends string>(prefix: Prefix) {
  const names = { ca: `${prefix}_CA`, cert: `${prefix}_CERT`, key: `${prefix}_KEY` } as const;
  const shape = {
    [names.ca]: pem('certificates', isCertificate),
    [names.cert]: pem('a certificate', isCertificate),
    [names.key]: pem('an unencrypted private key', isPrivateKey),
  } as Record<`${Prefix}_${'CA' | 'CERT' | 'KEY'}`, ReturnType<typeof pem>>;
  return { shape, check, read };

  /** Adds what no variable shows alone. */
  function check(settings: Settings, context: z.RefinementCtx): void {
    const missing = Object.values(names).filter((name) => settings[name] === undefined);
    if (missing.length === Object.keys(names).length) return;
    for (const name of missing) {
      issue(name, `expected with the other two of ${names.ca}, …_CERT and …_KEY`);
    }
    const [cert, key] = [textOf(settings, names.cert), textOf(settings, names.key)];
    if (isCertificate(cert) && isPrivateKey(key) && !belongTogether(cert, key)) {
      issue(names.key, `expected the key of ${names.cert}`);
    }

    function issue(name: string, message: string): void {
      context.addIssue({ code: 'custom', path: [name], message });
    }
  }

  /** Null where the three are not set. */
  function read(settings: Settings): TlsIdentity | null {
    const [ca, cert, key] = Object.values(names).map((name) => textOf(settings, name));
    return ca && cert && key ? { ca, cert, key } : null;
  }
}

function pem(what: string, isReadable: (text: string) => boolean) {
  return z
    .string()
    .refine(isReadable, { error: `expected ${what} as PEM text` })
    .optional();
}

function textOf(settings: Settings, name: string): string | undefined {
  const value = settings[name];
  return typeof value === 'string' ? value : undefined;
}

function belongTogether(cert: string, key: string): boolean {
  return new X509Certificate(cert).checkPrivateKey(createPrivateKey(key));
}
