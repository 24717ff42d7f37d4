import { CallerClaims, ServiceName } from '@pixmesh/contracts/internal/service-token';
import { AppError } from '@pixmesh/kernel/app-error';
import { createLocalJWKSet, importJWK, type JWK, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';

const ALGORITHM = 'EdDSA';
/** Short enough that a captured token is worthless, long enough for any call's deadline. */
const TOKEN_LIFETIME_SECONDS = 60;
const CLOCK_TOLERANCE_SECONDS = 5;
/**
 * A service's calls for itself say nothing but who calls whom, so one token serves for a while: a signature costs more
 * than the rest of a small call.
 */
const OWN_TOKEN_REUSE_MS = 20_000;

/** Signs what the caller says on a tenant's behalf; null claims make a call of the service for itself. */
export type SignToken = (audience: ServiceName, claims: CallerClaims | null) => Promise<string>;
/** Accepts a token for this service and answers its claims. */
export type VerifyToken = (token: string | undefined) => Promise<CallerClaims | null>;

const Ed25519Key = { kty: z.literal('OKP'), crv: z.literal('Ed25519'), kid: ServiceName } as const;

/** Keys of the token scheme as configuration: Ed25519, `kid` = name of the service. */
export const TokenKeysConfig = {
  SERVICE_TOKEN_PRIVATE_KEY: jsonOf(
    z.looseObject({ ...Ed25519Key, d: z.string() }),
    'an Ed25519 private JWK with kid',
  ),
  SERVICE_TOKEN_PUBLIC_KEYS: jsonOf(
    z.looseObject({ keys: z.array(z.looseObject(Ed25519Key)) }),
    'a JWKS of Ed25519 keys with kid',
  ),
} as const;

/** A signer for the service that owns the key: a callee can verify, but never forge, its callers. */
export async function createTokenSigner(privateJwk: JWK): Promise<SignToken> {
  const key = await importJWK(privateJwk, ALGORITHM);
  const issuer = ServiceName.parse(privateJwk.kid);
  const own = new Map<ServiceName, { token: Promise<string>; freshUntilMs: number }>();
  return async (audience, claims) => {
    return await (claims === null ? ownToken(audience) : sign(audience, claims));
  };

  async function ownToken(audience: ServiceName): Promise<string> {
    const held = own.get(audience);
    if (held && performance.now() < held.freshUntilMs) return await held.token;
    const token = sign(audience, null);
    own.set(audience, { token, freshUntilMs: performance.now() + OWN_TOKEN_REUSE_MS });
    return await token;
  }

  async function sign(audience: ServiceName, claims: CallerClaims | null): Promise<string> {
    return await new SignJWT({ caller: claims })
      .setProtectedHeader({ alg: ALGORITHM, kid: issuer })
      .setIssuer(issuer)
      .setAudience(audience)
      .setIssuedAt()
      .setExpirationTime(`${TOKEN_LIFETIME_SECONDS}s`)
      .sign(key);
  }
}

/**
 * A verifier for one service. The signature must come from the key of the issuer it names.
 * @throws AppError `UNAUTHORIZED` for any token that is missing, forged, expired or meant for another
 */
export function createTokenVerifier(
  audience: ServiceName,
  publicKeys: { keys: JWK[] },
): VerifyToken {
  const keys = createLocalJWKSet(publicKeys);
  return async (token) => {
    try {
      const { payload, protectedHeader } = await jwtVerify(token ?? '', keys, {
        algorithms: [ALGORITHM],
        audience,
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['exp', 'iat', 'iss'],
        maxTokenAge: TOKEN_LIFETIME_SECONDS,
      });
      if (payload.iss !== protectedHeader.kid) throw new Error('issuer is not the signer');
      return CallerClaims.nullable().parse(payload['caller']);
    } catch (error) {
      throw new AppError('UNAUTHORIZED', { message: 'service token refused', cause: error });
    }
  };
}

function jsonOf<Schema extends z.ZodType>(schema: Schema, expected: string) {
  const error = `expected ${expected}`;
  return z
    .string({ error })
    .transform((text, context) => {
      try {
        return JSON.parse(text) as unknown;
      } catch {
        context.addIssue({ code: 'custom', message: error });
        return z.NEVER;
      }
    })
    .refine((value) => schema.safeParse(value).success, { error })
    .transform((value) => value as z.output<Schema>);
}
