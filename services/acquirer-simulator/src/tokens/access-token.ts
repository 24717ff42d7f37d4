import { createHmac, timingSafeEqual } from 'node:crypto';

/** Life of an access token, as Efí gives it. */
export const TOKEN_LIFE_SECONDS = 3600;

export type AccessTokens = {
  issue(): string;
  isValid(token: string): boolean;
};

/**
 * Tokens that prove themselves: their end and an HMAC of it under the client's secret. Nothing is stored, so
 * a token outlives a restart of the simulator.
 */
export function createAccessTokens(clientSecret: string): AccessTokens {
  return {
    issue: () => {
      const end = Math.floor(Date.now() / 1000) + TOKEN_LIFE_SECONDS;
      return `${end}.${sign(String(end))}`;
    },
    isValid: (token) => {
      const [end = '', mac = ''] = token.split('.', 2);
      return isSame(mac, sign(end)) && Number(end) * 1000 > Date.now();
    },
  };

  function sign(end: string): string {
    return createHmac('sha256', clientSecret).update(`access-token:${end}`).digest('base64url');
  }
}

/** Compares in a time that says nothing about where two secrets differ. */
export function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
