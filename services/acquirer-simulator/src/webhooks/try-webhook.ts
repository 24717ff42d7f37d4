import type { TlsIdentity } from '@pixmesh/service/tls-identity';
import { Agent, request } from 'undici';

import { efiError } from '#api-pix/provider-error.ts';

const TIMEOUT_MS = 10_000;

/**
 * Tries a callback URL as Efí does before it registers one: without a certificate it has to refuse us, at the handshake
 * or by a status, and with ours it has to answer 2xx.
 * @throws ProviderError `webhook_invalido`
 */
export async function tryWebhook(url: string, { ca, cert, key }: TlsIdentity): Promise<void> {
  if (await answersOk(url, { ca })) {
    throw invalid('A URL informada atende chamadas sem o certificado do provedor (TLS mútuo)');
  }
  if (await answersOk(url, { ca, cert, key })) return;
  throw invalid('A URL informada não atende chamadas com o certificado do provedor');
}

async function answersOk(url: string, connect: Partial<TlsIdentity>): Promise<boolean> {
  const agent = new Agent({ connect });
  try {
    const { statusCode, body } = await request(url, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ evento: 'teste_webhook' }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await body.dump();
    return statusCode >= 200 && statusCode < 300;
  } catch {
    return false;
  } finally {
    await agent.destroy();
  }
}

function invalid(message: string): Error {
  return efiError(400, 'webhook_invalido', message);
}
