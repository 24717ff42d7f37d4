import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';

/** The names of a mounted Kubernetes secret of type `kubernetes.io/tls`, as cert-manager writes it. */
export const IDENTITY_FILES = { ca: 'ca.crt', cert: 'tls.crt', key: 'tls.key' } as const;

/** How often the files are read again: a mounted secret changes by a symbolic link, which no watcher sees. */
const RELOAD_MS = 5_000;

/** PEM texts: the authorities that this process believes, its certificate and that certificate's key. */
export type IdentityTexts = { ca: string; cert: string; key: string };

/** By what a process proves who it is, and knows the others. Follows its files, so that no renewal needs a restart. */
export type MeshIdentity = AsyncDisposable & {
  /** The common name of its certificate, such as `charges`. */
  readonly name: string;
  current(): IdentityTexts;
  /** Called after each change of the files. */
  onChange(listener: (texts: IdentityTexts) => void): void;
};

/** What is said of the files while the process runs; a message, and an error where there is one. */
export type IdentityLog = {
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
};

/**
 * The identity whose files stand in `folder`. Files that cannot be used replace nothing: the former ones stay in force.
 * @throws Error that names the file, where they cannot be used at the start
 */
export function openMeshIdentity(options: {
  folder: string;
  logger: IdentityLog;
  reloadMs?: number;
}): MeshIdentity {
  const { folder, logger, reloadMs = RELOAD_MS } = options;
  let texts = readIdentity(folder);
  let refused = '';
  let tries = 0;
  const listeners: ((texts: IdentityTexts) => void)[] = [];
  const timer = setInterval(reload, reloadMs);
  timer.unref();
  return {
    name: commonNameOf(texts.cert),
    current: () => texts,
    onChange: (listener) => void listeners.push(listener),
    [Symbol.asyncDispose]: async () => clearInterval(timer),
  };

  function reload(): void {
    try {
      const next = readTexts(folder);
      const isNew = !isSame(next, texts);
      // To parse certificates and a key costs far more than to see that their texts are the same.
      if (isNew) checkIdentity(folder, next);
      refused = '';
      if (!isNew) return;
      texts = next;
      for (const listener of listeners) listener(texts);
      const { validTo } = new X509Certificate(texts.cert);
      logger.info({ folder, valid_to: validTo }, 'certificate of the mesh reloaded');
    } catch (error) {
      const { message } = error as Error;
      // The first time it may only be half written; after that it is said once.
      tries = message === refused ? tries + 1 : 1;
      refused = message;
      if (tries === 2) logger.error({ err: error, folder }, 'certificate of the mesh not reloaded');
    }
  }
}

/** @throws Error that names the file which cannot be used, or says that key and certificate do not belong together */
export function readIdentity(folder: string): IdentityTexts {
  const texts = readTexts(folder);
  checkIdentity(folder, texts);
  return texts;
}

function readTexts(folder: string): IdentityTexts {
  const [ca, cert, key] = [IDENTITY_FILES.ca, IDENTITY_FILES.cert, IDENTITY_FILES.key].map((file) =>
    readFileSync(join(folder, file), 'utf8'),
  ) as [string, string, string];
  return { ca, cert, key };
}

function checkIdentity(folder: string, { ca, cert, key }: IdentityTexts): void {
  checked('ca', () => new X509Certificate(ca));
  const certificate = checked('cert', () => new X509Certificate(cert));
  if (commonNameOf(certificate) === '') {
    throw new Error(
      `${join(folder, IDENTITY_FILES.cert)} has another subject than CN=<name> alone`,
    );
  }
  const privateKey = checked('key', () => createPrivateKey(key));
  if (!certificate.checkPrivateKey(privateKey)) {
    throw new Error(`${join(folder, IDENTITY_FILES.key)} is not the key of ${IDENTITY_FILES.cert}`);
  }
  // All that the files hold, as TLS will read it: the checks above see the first certificate of each.
  try {
    createSecureContext({ ca, cert, key, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new Error(`TLS refuses the identity in ${folder}`, { cause: error });
  }

  function checked<Value>(part: keyof typeof IDENTITY_FILES, read: () => Value): Value {
    try {
      return read();
    } catch {
      throw new Error(`${join(folder, IDENTITY_FILES[part])} holds no usable PEM text`);
    }
  }
}

/**
 * The name for which a certificate was issued; empty where its subject is anything but a common name. The rule of the
 * brokers (`ssl.principal.mapping.rules`) is the same, so that a certificate is of one process everywhere or of none.
 */
export function commonNameOf(cert: string | X509Certificate): string {
  const { subject } = typeof cert === 'string' ? new X509Certificate(cert) : cert;
  const [, name = ''] = /^CN=([a-z-]+)$/.exec(subject) ?? [];
  return name;
}

function isSame(one: IdentityTexts, other: IdentityTexts): boolean {
  return one.ca === other.ca && one.cert === other.cert && one.key === other.key;
}
