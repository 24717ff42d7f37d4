import { openSecret } from '@pixmesh/kernel/sealed-secret';

/** Secrets in memory; the one that was opened first makes room. */
const OPENED_MAX = 5_000;

export type OpenedSecrets = {
  /** @throws SealedSecretError when it cannot be opened for this owner; nothing is stored then */
  open(sealed: string, owner: string): string;
};

/**
 * Opens each sealed secret once, because many deliveries are signed with the same one. In memory only, by sealed text
 * and owner together, so that a text that was moved to another owner still fails.
 */
export function createOpenedSecrets(privateKeys: string): OpenedSecrets {
  const opened = new Map<string, string>();
  return {
    open: (sealed, owner) => {
      const key = `${owner} ${sealed}`;
      const found = opened.get(key);
      if (found !== undefined) return found;
      const secret = openSecret(privateKeys, sealed, owner);
      opened.set(key, secret);
      const [oldest] = opened.keys();
      if (opened.size > OPENED_MAX && oldest !== undefined) opened.delete(oldest);
      return secret;
    },
  };
}
