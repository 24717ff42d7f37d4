import { type RotatableSecret, rotatableSecret } from '@pixmesh/service/rotatable-secret';

const PEPPER_BYTES = 32;
/** What `api_keys.pepper_version` can hold. */
const VERSION_MAX = 32_767;
const EXPECTED = 'expected 32 bytes in base64url, after `<version>:` unless it is the first';
const PATTERN = /^(?:([1-9]\d{0,4}):)?([\w-]+)$/;

/** A key of the HMAC of API keys, kept outside the database, where its version stands with each digest. */
export type Pepper = { version: number; bytes: Buffer };

export type Peppers = RotatableSecret<Pepper>;

/** `<base64url>` is version 1, `2:<base64url>` the next one. */
export const PeppersSetting = rotatableSecret(readPepper, EXPECTED).refine(
  ({ current, other }) => current.version !== other?.version,
  { error: 'expected two peppers of different versions' },
);

function readPepper(text: string): Pepper | null {
  const [, version = '1', encoded = ''] = PATTERN.exec(text) ?? [];
  const pepper = { version: Number(version), bytes: Buffer.from(encoded, 'base64url') };
  return pepper.bytes.length === PEPPER_BYTES && pepper.version <= VERSION_MAX ? pepper : null;
}
