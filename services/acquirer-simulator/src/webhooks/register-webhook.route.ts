import type { Queryable } from '@pixmesh/postgres/pool';
import type { TlsIdentity } from '@pixmesh/service/tls-identity';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

import { apiPixError, efiError, type ProviderError } from '#api-pix/provider-error.ts';
import { readBody, readShape } from '#api-pix/read-body.ts';
import type { Provider } from '#faults/provider.ts';

import { tryWebhook } from './try-webhook.ts';
import { deleteWebhook, findWebhook, saveWebhook } from './webhooks.sql.ts';

const WebhookBody = z.object({ webhookUrl: z.url({ protocol: /^https?$/ }).max(2048) });
const WebhookParams = z.object({ chave: z.string().max(77) });

type Deps = { db: Queryable; pixKey: string; clientTls: TlsIdentity | null };

/** Leaves out what Efí asks of a URL at its registration. */
const SKIP_HEADER = 'x-skip-mtls-checking';

/**
 * `PUT`, `GET` and `DELETE /v2/webhook/{chave}`. Where callbacks show a certificate, a URL is registered only if it
 * asks for one, as at Efí, unless a header leaves that out. Otherwise it is not tried out: it may come up later than
 * this call.
 */
export function addRegisterWebhook(provider: Provider, deps: Deps): void {
  provider.put('/v2/webhook/:chave', 'registerCallback', async (request) => {
    const pixKey = readKey(request);
    if (pixKey !== deps.pixKey) throw foreignKey();
    const { webhookUrl } = readBody(WebhookBody, request, 'WebhookOperacaoInvalida');
    if (deps.clientTls !== null && request.headers[SKIP_HEADER] !== 'true') {
      await tryWebhook(webhookUrl, deps.clientTls);
    }
    await saveWebhook(deps.db, { pixKey, url: webhookUrl });
    return { status: 200, body: { webhookUrl } };
  });
  provider.get('/v2/webhook/:chave', null, async (request) => {
    const webhook = await findWebhook(deps.db, readKey(request));
    if (webhook === null) throw apiPixError('WebhookNaoEncontrado', 404);
    const { url: webhookUrl, pixKey: chave, createdAt } = webhook;
    return { status: 200, body: { webhookUrl, chave, criacao: createdAt.toISOString() } };
  });
  provider.delete('/v2/webhook/:chave', null, async (request) => {
    const removed = await deleteWebhook(deps.db, readKey(request));
    if (!removed) throw apiPixError('WebhookNaoEncontrado', 404);
    return { status: 204, body: null };
  });
}

function readKey(request: FastifyRequest): string {
  return readShape(WebhookParams, request.params).chave;
}

function foreignKey(): ProviderError {
  return efiError(400, 'chave_invalida', 'A chave informada não pertence à conta autenticada');
}
