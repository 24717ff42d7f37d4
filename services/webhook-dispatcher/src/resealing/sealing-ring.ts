import { createPublicKey } from 'node:crypto';

import { exportPublicKey, readPrivateKeys } from '@pixmesh/kernel/sealed-secret-keys';

/** The sealing keys that this process holds. */
export type SealingRing = {
  /** As the environment has them. */
  privateKeys: string;
  newestVersion: string;
  /** What everything is to be sealed to, `<version>:<base64url>`. */
  newestPublicKey: string;
  /** Versions that can be opened, besides the newest one. */
  olderVersions: readonly string[];
};

/** Versions count as people write them: `v9` is older than `v10`, `2026-11` older than `2027-01`. */
const byAge = new Intl.Collator('en', { numeric: true });

/** @throws SealedSecretError when the keys are malformed */
export function readSealingRing(privateKeys: string): SealingRing {
  const ring = readPrivateKeys(privateKeys);
  const versions = [...ring.keys()].toSorted(
    // Two that count as equal, such as `v1` and `v01`, still have one order in every process.
    (one, other) => byAge.compare(one, other) || (one < other ? -1 : 1),
  );
  const newest = versions.at(-1)!;
  const publicKey = createPublicKey(ring.get(newest)!);
  return {
    privateKeys,
    newestVersion: newest,
    newestPublicKey: `${newest}:${exportPublicKey(publicKey)}`,
    olderVersions: versions.slice(0, -1),
  };
}
