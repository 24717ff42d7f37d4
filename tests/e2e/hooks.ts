import { createHmac, randomUUID } from 'node:crypto';

import { expect } from 'vitest';

import { admin, type Json, type Merchant, received, v1 } from './mesh.ts';

/** A place of its own at the receiver. */
export type Hook = { path: string; url: string };

export function aHook(): Hook {
  const path = `/${randomUUID()}`;
  return { path, url: `http://shop.receiver.example.com${path}` };
}

/** The same account through another application. */
export async function anotherApplication(merchant: Merchant): Promise<Merchant> {
  const path = `/admin/accounts/${merchant.accountId}/applications`;
  const application = await admin('POST', path, { name: 'Outra' });
  const key = await admin('POST', `/admin/applications/${application.body.id}/keys`, {
    name: 'outra',
    scopes: ['charge:write', 'charge:read', 'webhook:write', 'webhook:read'],
  });
  expect(key.status).toBe(201);
  return { ...merchant, applicationId: application.body.id, key: key.body.key };
}

/** Registers an endpoint; answers its id. */
export async function register(merchant: Merchant, body: object): Promise<string> {
  const answer = await v1(merchant, 'POST /webhooks', { body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

/** What arrived at a hook about one resource. */
export async function receivedAbout(hook: Hook, resourceId: string): Promise<Json[]> {
  const requests = await received(hook.path);
  return requests.filter(
    (request) => JSON.parse(bytesOf(request).toString()).data.id === resourceId,
  );
}

/** The very bytes of a delivery. */
export function bytesOf(request: Json): Buffer {
  return Buffer.from(request.body_base64, 'base64');
}

export function expectSigned(request: Json, secret: string | null): void {
  const digest = secret && createHmac('sha256', secret).update(bytesOf(request)).digest('hex');
  expect(request.headers['x-webhook-signature']).toBe(digest ? `sha256=${digest}` : undefined);
}
