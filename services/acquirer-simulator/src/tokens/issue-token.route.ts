import { rawBody } from '@pixmesh/http/service-app';
import { parseJsonBody } from '@pixmesh/kernel/json-body';

import { oauthError } from '#api-pix/provider-error.ts';
import type { Provider } from '#faults/provider.ts';

import { type AccessTokens, isSame, TOKEN_LIFE_SECONDS } from './access-token.ts';
import { readScopes } from './scopes.ts';

type Deps = {
  tokens: AccessTokens;
  clientId: string;
  clientSecret: string;
  otherClientSecret: string | undefined;
};

/** OAuth2 client credentials (RFC 6749 section 4.4), the only grant; `scope` narrows what the token allows. */
export function addIssueToken(provider: Provider, deps: Deps): void {
  const secrets = [deps.clientSecret, ...(deps.otherClientSecret ? [deps.otherClientSecret] : [])];
  const expected = secrets.map((secret) =>
    Buffer.from(`${deps.clientId}:${secret}`).toString('base64'),
  );
  provider.post('/oauth/token', 'token', async (request) => {
    const given = /^Basic (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!expected.some((credentials) => isSame(given, credentials))) {
      throw oauthError(401, 'invalid_client', 'Invalid or inactive credentials');
    }
    const body = rawBody(request.body);
    const grant = readField(body, 'grant_type');
    if (grant === null) throw oauthError(400, 'invalid_request', 'grant_type is missing');
    if (grant !== 'client_credentials') {
      throw oauthError(400, 'unsupported_grant_type', 'The grant is client_credentials');
    }
    const scopes = readScopes(readField(body, 'scope'));
    if (scopes === null) throw oauthError(400, 'invalid_scope', 'A scope is not of this client');
    return {
      status: 200,
      body: {
        access_token: deps.tokens.issue(scopes),
        token_type: 'Bearer',
        expires_in: TOKEN_LIFE_SECONDS,
        scope: scopes.join(' '),
      },
    };
  });
}

/** RFC 6749 prescribes a form, Efí's clients send JSON: both are read. */
function readField(body: Buffer, name: string): string | null {
  const json = parseJsonBody(body);
  if (json.kind === 'invalid') return new URLSearchParams(body.toString()).get(name);
  const value = json.value[name];
  return typeof value === 'string' ? value : null;
}
