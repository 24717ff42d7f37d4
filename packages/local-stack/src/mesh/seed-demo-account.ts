import { Scope } from '@pixmesh/contracts/http/scopes';
import { z } from 'zod';
import { call } from '../http-call.ts';
import type { Progress } from '../progress.ts';
import { DEMO_ACCOUNT } from './demo-account.ts';
import { type DemoAccount, saveSecrets } from './mesh-secrets.ts';
import type { MeshSettings } from './mesh-settings.ts';

const REQUEST_LIMIT_MS = 10_000;
const HTTP_OK = 200;

const Created = z.object({ id: z.string(), key: z.string().optional() });

/**
 * An account, an application and a key with every scope, made through the admin API. They are kept in
 * the home's secrets, so that the next start uses the same ones as long as the database knows them.
 */
export async function seedDemoAccount(input: {
  home: string;
  log: Progress;
  settings: MeshSettings;
}): Promise<DemoAccount> {
  const { home, log, settings } = input;
  const kept = settings.secrets.demo;
  if (kept && (await isAccepted(settings, kept))) return kept;
  const demo = await createDemoAccount({
    admin_url: settings.origin('admin'),
    admin_token: settings.secrets.adminToken,
  });
  settings.secrets.demo = demo;
  saveSecrets(home, settings.secrets);
  log.line('demo account, application and key created');
  return demo;
}

/** A merchant that may do everything, made through an admin API. */
export async function createDemoAccount(admin: {
  admin_url: string;
  admin_token: string;
}): Promise<DemoAccount> {
  const headers = { authorization: `Bearer ${admin.admin_token}` };
  const create = async (path: string, body: object) =>
    Created.parse(await call('POST', `${admin.admin_url}/admin/${path}`, { headers, body }));
  const account = await create('accounts', DEMO_ACCOUNT);
  const application = await create(`accounts/${account.id}/applications`, { name: 'demo' });
  const scopes = Scope.options;
  const key = await create(`applications/${application.id}/keys`, { name: 'demo', scopes });
  return { accountId: account.id, applicationId: application.id, apiKey: key.key ?? '' };
}

async function isAccepted(settings: MeshSettings, demo: DemoAccount): Promise<boolean> {
  const response = await fetch(`${settings.origin('gateway')}/v1/account`, {
    headers: { 'x-api-key': demo.apiKey },
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  await response.arrayBuffer();
  return response.status === HTTP_OK;
}
