import type { AddressInfo } from 'node:net';

import type { FastifyInstance } from 'fastify';

/** Listens, and answers the port, which the configuration may leave open. */
export async function listen(
  app: FastifyInstance,
  address: { host: string; port: number },
): Promise<number> {
  await app.listen(address);
  return (app.server.address() as AddressInfo).port;
}
