import { openSecret } from '@pixmesh/kernel/sealed-secret';

/** Secrets kept open; the one that was opened first makes room. */
const OPENED_MAX = 5_000;

export type OpenedSecrets = {
  /** @throws SealedSecretError when it cannot be opened for this owner; nothing is kept then */
  open(sealed: string, owner: string): string;
};

/**
 * Opens each sealed secret once: a receiver is sent to again and again under the same one. Kept in memory only, by the
 * sealed text and its owner together, so that a text which was moved to another owner fails as ever.
 */
export function createOpenedSecrets(privateKeys: string): OpenedSecrets {
  const opened = new Map<string, string>();
  return {
    open: (sealed, owner) => {
      const key = `${owner} ${sealed}`;
      const known = opened.get(key);
      if (known !== undefined) return known;
      const secret = openSecret(privateKeys, sealed, owner);
      opened.set(key, secret);
      const [oldest] = opened.keys();
      if (opened.size > OPENED_MAX && oldest !== undefined) opened.delete(oldest);
      return secret;
    },
  };
}
