import type { FastifyInstance } from 'fastify';

import { countHeader } from './ambiguous-requests.ts';

/** Far longer than any name of JSON. */
const VALUE_LENGTH_MAX = 255;
/** RFC 9110 section 8.3.1; what follows the semicolon means nothing for JSON. */
const MEDIA_TYPE = /^\s*[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(;|$)/;
/** Bytes of which nothing is known (RFC 2046 section 4.5.1). */
const UNKNOWN_TYPE = 'application/octet-stream';
/** No coding that is registered. */
const UNKNOWN_CODING = 'x-unknown';

/**
 * A body whose media type is ill-formed, sent twice (Node shows the first alone) or too long to be passed on gets one
 * that nobody reads. So it is refused where bodies are read, after the look-up of what it may repeat (decisions 12,
 * 253), and not by the framework.
 */
export function nameUnknownBodies(app: FastifyInstance): void {
  app.addHook('onRequest', async (request) => {
    const { headers } = request;
    const { 'content-type': type, 'content-encoding': coding } = headers;
    const isRepeated = () => countHeader(request.raw, 'content-type') > 1;
    if (type !== undefined && (isRepeated() || isTooLong(type) || !MEDIA_TYPE.test(type))) {
      headers['content-type'] = UNKNOWN_TYPE;
    }
    if (coding !== undefined && isTooLong(coding)) headers['content-encoding'] = UNKNOWN_CODING;
  });
}

function isTooLong(value: string): boolean {
  return value.length > VALUE_LENGTH_MAX;
}
