import { createHash, X509Certificate } from 'node:crypto';

import { compactVerify, decodeProtectedHeader, importJWK, type JWK } from 'jose';
import { z } from 'zod';

import { type Fetched, fetchText, type OriginOf } from './fetch-text.ts';
import { stepFailed } from './step-failed.ts';

/** What the security manual demands of a header; symmetric algorithms and `none` prove nothing. */
const Header = z.object({
  alg: z.enum(['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512', 'RS256', 'RS384', 'RS512']),
  kid: z.string(),
  x5t: z.string(),
  jku: z.url({ protocol: /^https$/ }),
});

const Key = z.looseObject({ kid: z.string(), x5t: z.string(), x5c: z.array(z.base64()).min(1) });
const KeySet = z.object({ keys: z.array(z.unknown()) });

/**
 * The bytes of a JWS, if they were signed by a key that the host of the location publishes: `jku` has to be of that
 * host, and the key is known by `kid` and `x5t` alike. Who issued the certificate is not asked.
 * @throws AppError at `payload` where it is no JWS, else at `signature`
 */
export async function verifyPayload(
  originOf: OriginOf,
  location: URL,
  jws: string,
): Promise<Uint8Array> {
  const { kid, x5t, jku, alg } = readHeader(jws);
  const keysUrl = new URL(jku);
  if (keysUrl.host !== location.host) {
    throw stepFailed('signature', `jku is of ${keysUrl.host}, the location of ${location.host}`);
  }
  const keys = readKeys(await fetchText(originOf, keysUrl));
  const key = keys.find((one) => one.kid === kid && one.x5t === x5t);
  if (key === undefined) throw stepFailed('signature', 'no key of jku has this kid and x5t');
  checkCertificate(key, location.hostname);
  try {
    const imported = await importJWK(key as JWK, alg);
    return (await compactVerify(jws, imported, { algorithms: [alg] })).payload;
  } catch (cause) {
    throw stepFailed('signature', 'it is not by the key that jku serves', cause);
  }
}

function readHeader(jws: string): z.output<typeof Header> {
  const { data } = Header.safeParse(decodeHeader(jws));
  if (data !== undefined) return data;
  throw stepFailed('signature', 'the header needs kid, x5t, an https jku, and alg ES*, PS* or RS*');
}

function decodeHeader(jws: string): object {
  try {
    return decodeProtectedHeader(jws);
  } catch (cause) {
    throw stepFailed('payload', 'the answer is no JWS in compact form', cause);
  }
}

/** Keys of another form may stand beside the one that is wanted. */
function readKeys(answer: Fetched): z.output<typeof Key>[] {
  if (answer.kind === 'none') throw stepFailed('signature', `jku: ${answer.reason}`, answer.cause);
  if (answer.status !== 200) throw stepFailed('signature', `jku answers ${answer.status}`);
  const { data } = KeySet.safeParse(parseJson(answer.text));
  if (data === undefined) throw stepFailed('signature', 'jku serves no set of keys');
  return data.keys.flatMap((one) => Key.safeParse(one).data ?? []);
}

/** The certificate ties the key to the host. */
function checkCertificate(key: z.output<typeof Key>, hostname: string): void {
  const [first = ''] = key.x5c;
  const bytes = Buffer.from(first, 'base64');
  const thumbprint = createHash('sha1').update(bytes).digest('base64url');
  if (thumbprint !== key.x5t) throw stepFailed('signature', 'x5t is not of the first x5c');
  const certificate = readCertificate(bytes);
  const nowMs = Date.now();
  const { validFromDate, validToDate } = certificate;
  if (nowMs < validFromDate.getTime() || nowMs > validToDate.getTime()) {
    throw stepFailed('signature', 'the certificate does not hold now');
  }
  if (certificate.checkHost(hostname) === undefined) {
    throw stepFailed('signature', `the certificate is not of ${hostname}`);
  }
  const own = certificate.publicKey.export({ format: 'jwk' }) as Record<string, unknown>;
  if (Object.entries(own).some(([name, value]) => key[name] !== value)) {
    throw stepFailed('signature', 'the key is not that of its certificate');
  }
}

function readCertificate(bytes: Buffer): X509Certificate {
  try {
    return new X509Certificate(bytes);
  } catch (cause) {
    throw stepFailed('signature', 'x5c holds no certificate', cause);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
