import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

export type Canary = AsyncDisposable & { readonly port: number; connections(): number };

/** Listens at every local address, IPv4 and IPv6, and counts who comes: nobody should. */
export async function startCanary(): Promise<Canary> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  server.listen({ port: 0, host: '::', ipv6Only: false });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    [Symbol.asyncDispose]: async () => {
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
