import { createPrivateKey, X509Certificate } from 'node:crypto';

/** Whether a text holds a certificate in PEM that can be read. */
export function isCertificate(text: string | undefined): text is string {
  return text !== undefined && succeeds(() => new X509Certificate(text));
}

/** Whether a text holds a private key in PEM that can be read without a passphrase. */
export function isPrivateKey(text: string | undefined): text is string {
  return text !== undefined && succeeds(() => createPrivateKey(text));
}

function succeeds(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
