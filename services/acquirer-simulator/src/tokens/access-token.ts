import { createHmac, timingSafeEqual } from 'node:crypto';

import { readScopes, type Scope } from './scopes.ts';

/** Life of an access token, as Efí gives it. */
export const TOKEN_LIFE_SECONDS = 3600;

export type AccessTokens = {
  issue(scopes: readonly Scope[]): string;
  /** What the token allows; null for one that was never issued, or has ended. */
  read(token: string): readonly Scope[] | null;
};

/**
 * Tokens that prove themselves: their end, their scopes and an HMAC of both under the client's secret. Nothing is
 * stored, so a token outlives a restart of the simulator.
 */
export function createAccessTokens(clientSecret: string): AccessTokens {
  return {
    issue: (scopes) => {
      const end = Math.floor(Date.now() / 1000) + TOKEN_LIFE_SECONDS;
      const claims = `${end}.${Buffer.from(scopes.join(' ')).toString('base64url')}`;
      return `${claims}.${sign(claims)}`;
    },
    read: (token) => {
      const [end = '', scopes = '', mac = ''] = token.split('.', 3);
      const isOurs = isSame(mac, sign(`${end}.${scopes}`)) && Number(end) * 1000 > Date.now();
      return isOurs ? readScopes(Buffer.from(scopes, 'base64url').toString()) : null;
    },
  };

  function sign(claims: string): string {
    return createHmac('sha256', clientSecret).update(`access-token:${claims}`).digest('base64url');
  }
}

/** Compares in a time that says nothing about where two secrets differ. */
export function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
