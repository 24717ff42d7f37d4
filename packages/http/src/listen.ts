import type { AddressInfo } from 'node:net';

import type { FastifyInstance, FastifyListenOptions } from 'fastify';

/** Listens, and answers the port, which the configuration may leave open. */
export async function listen(
  app: FastifyInstance,
  config: { HOST: string; REUSE_PORT: boolean },
  port: number,
): Promise<number> {
  // Fastify hands what it does not know on to Node.
  const address: FastifyListenOptions & { reusePort: boolean } = {
    host: config.HOST,
    port,
    reusePort: config.REUSE_PORT,
  };
  await app.listen(address);
  return (app.server.address() as AddressInfo).port;
}
