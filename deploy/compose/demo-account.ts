import { Scope } from '@pixmesh/contracts/http/scopes';
import { DEMO_ACCOUNT } from '@pixmesh/local-stack/mesh/demo-account';
import { z } from 'zod';

const REQUEST_LIMIT_MS = 10_000;

const Created = z.object({ id: z.string(), key: z.string().optional() });

/**
 * A merchant that may do everything: an account, an application and a key with every scope; answers the key.
 * @throws Error where the admin API refuses one of them
 */
export async function createDemoAccount(admin: { url: string; token: string }): Promise<string> {
  const account = await create(admin, 'accounts', DEMO_ACCOUNT);
  const application = await create(admin, `accounts/${account.id}/applications`, { name: 'demo' });
  const fields = { name: 'demo', scopes: Scope.options };
  const { key = '' } = await create(admin, `applications/${application.id}/keys`, fields);
  return key;
}

/** Whether the installation still knows the key: its database may be a new one. */
export async function isAccepted(gatewayUrl: string, key: string): Promise<boolean> {
  const response = await fetch(`${gatewayUrl}/v1/account`, {
    headers: { 'x-api-key': key },
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  await response.arrayBuffer();
  return response.ok;
}

async function create(admin: { url: string; token: string }, path: string, body: object) {
  const response = await fetch(`${admin.url}/admin/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  if (!response.ok) throw new Error(`POST /admin/${path} answered ${response.status}`);
  return Created.parse(await response.json());
}
