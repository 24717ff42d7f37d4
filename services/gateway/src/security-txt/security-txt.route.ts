import type { FastifyInstance } from 'fastify';

import { renderSecurityTxt, type SecurityTxt } from './security-txt.ts';

/** RFC 9116 section 3. */
const PATH = '/.well-known/security.txt';

/** `GET /.well-known/security.txt`, for anybody. Without a contact there is no such path. */
export function registerSecurityTxt(app: FastifyInstance, securityTxt: SecurityTxt | null): void {
  if (securityTxt === null) return;
  const text = renderSecurityTxt(securityTxt);
  app.get(PATH, (_request, reply) => reply.type('text/plain; charset=utf-8').send(text));
}
