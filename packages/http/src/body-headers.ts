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
 * Gives a body whose headers do not say how it is to be read a media type that says just that: one that is
 * ill-formed, which the framework would refuse by itself, one that is sent twice, of which Node shows the first
 * alone, and one too long to be passed on. So a body that nobody can read is refused where bodies are read, in
 * the order of decision 12, and after the look-up of what it may repeat (decision 253).
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
