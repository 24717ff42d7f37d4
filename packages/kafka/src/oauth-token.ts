import { z } from 'zod';

const REQUEST_TIMEOUT_MS = 5_000;

const Answer = z.object({ access_token: z.string().min(1) });

type TokenClient = {
  id: string;
  secret: string;
  scope: string | undefined;
};

/**
 * A token of the broker's identity provider for each connection, by client credentials (RFC 6749, 4.4). The library
 * asks again before a session at the broker ends.
 */
export function createTokenProvider(tokenUrl: string, client: TokenClient) {
  const { id, secret, scope } = client;
  const login = [id, secret].map(encodeURIComponent).join(':');
  const form = { grant_type: 'client_credentials', ...(scope === undefined ? {} : { scope }) };
  return async (): Promise<{ value: string }> => {
    const response = await fetch(tokenUrl, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(login).toString('base64')}` },
      body: new URLSearchParams(form),
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    });
    if (!response.ok) {
      await response.arrayBuffer();
      throw new Error(`${tokenUrl} answered ${response.status}`);
    }
    return { value: Answer.parse(await response.json()).access_token };
  };
}
