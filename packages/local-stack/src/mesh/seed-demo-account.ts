import { Scope } from '@pixmesh/contracts/http/scopes';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { saveSecrets } from './mesh-secrets.ts';
import type { DemoAccount } from './mesh-secrets.ts';
import type { MeshSettings } from './mesh-settings.ts';

const REQUEST_LIMIT_MS = 10_000;
const HTTP_OK = 200;

/** A CNPJ with right check digits that belongs to nobody. */
const DEMO_ACCOUNT = {
  name: 'Loja Demonstracao',
  legal_name: 'Loja Demonstracao Ltda',
  document: '11444777000161',
  phone: '+5511900000000',
  onboarding_status: 'approved',
  auto_payout_enabled: true,
};

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
  const demo = await createDemoAccount(settings);
  settings.secrets.demo = demo;
  saveSecrets(home, settings.secrets);
  log.line('demo account, application and key created');
  return demo;
}

async function createDemoAccount(settings: MeshSettings): Promise<DemoAccount> {
  const account = await create(settings, '/admin/accounts', DEMO_ACCOUNT);
  const accountId = textOf(account, 'id');
  const application = await create(settings, `/admin/accounts/${accountId}/applications`, {
    name: 'demo',
  });
  const applicationId = textOf(application, 'id');
  const key = await create(settings, `/admin/applications/${applicationId}/keys`, {
    name: 'demo',
    scopes: Scope.options,
  });
  return { accountId, applicationId, apiKey: textOf(key, 'key') };
}

async function isAccepted(settings: MeshSettings, demo: DemoAccount): Promise<boolean> {
  const response = await fetch(`${settings.origin('gateway')}/v1/account`, {
    headers: { 'x-api-key': demo.apiKey },
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  await response.arrayBuffer();
  return response.status === HTTP_OK;
}

async function create(settings: MeshSettings, path: string, body: object): Promise<object> {
  const response = await fetch(`${settings.origin('admin')}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${settings.secrets.adminToken}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
  });
  const text = await response.text();
  if (response.ok) return JSON.parse(text) as object;
  throw new StartupFailure(`POST ${path} answered ${response.status}: ${text}`);
}

function textOf(resource: object, field: string): string {
  const value = (resource as Record<string, unknown>)[field];
  if (typeof value === 'string') return value;
  throw new StartupFailure(`the admin API answered without "${field}"`);
}
