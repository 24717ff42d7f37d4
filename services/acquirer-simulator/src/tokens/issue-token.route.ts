import type { Provider } from '#faults/provider.ts';

import { type AccessTokens, isSame, TOKEN_LIFE_SECONDS } from './access-token.ts';
import { JSON_TYPE, ProviderError } from '#api-pix/provider-error.ts';

const SCOPES =
  'cob.write cob.read pix.write pix.read pix.send gn.pix.send.read gn.balance.read ' +
  'webhook.write webhook.read';

type Deps = {
  tokens: AccessTokens;
  clientId: string;
  clientSecret: string;
};

/** OAuth2 client credentials (RFC 6749 section 4.4); the grant is the only one, so the body says nothing new. */
export function addIssueToken(provider: Provider, deps: Deps): void {
  const expected = Buffer.from(`${deps.clientId}:${deps.clientSecret}`).toString('base64');
  provider.post('/oauth/token', 'token', async (request) => {
    const given = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!isSame(given, expected)) throw invalidClient();
    return {
      status: 200,
      body: {
        access_token: deps.tokens.issue(),
        token_type: 'Bearer',
        expires_in: TOKEN_LIFE_SECONDS,
        scope: SCOPES,
      },
    };
  });
}

function invalidClient(): ProviderError {
  return new ProviderError(401, JSON_TYPE, {
    error: 'invalid_client',
    error_description: 'Invalid or inactive credentials',
  });
}
