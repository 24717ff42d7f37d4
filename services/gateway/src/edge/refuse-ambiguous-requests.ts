import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { readHeader } from './read-header.ts';

/**
 * Refuses the three forms that Node's parser takes, but that proxies before us may read differently: two
 * `Host` headers, an absolute-form target, and HTTP/1.0 with a transfer coding (reliability 5.4).
 */
export function refuseAmbiguousRequests(app: FastifyInstance): void {
  app.addHook('onRequest', async ({ raw }) => {
    const fault = findAmbiguity(raw);
    if (fault !== null) throw new AppError('VALIDATION_ERROR', { details: [fault] });
  });
}

function findAmbiguity(raw: FastifyRequest['raw']): string | null {
  if (!raw.url?.startsWith('/')) return 'request-target';
  if (readHeader(raw.rawHeaders, 'host').kind === 'repeated') return 'host';
  const coded = raw.headers['transfer-encoding'] !== undefined;
  return coded && raw.httpVersion === '1.0' ? 'transfer-encoding' : null;
}
