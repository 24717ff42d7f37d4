import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';

import { within } from '@pixmesh/kernel/within';
import { renderMetrics } from '@pixmesh/telemetry/running-telemetry';

const CHECK_TIMEOUT_MS = 2_000;

export type HealthOptions = {
  host: string;
  port: number;
  /** False once a loop has stopped turning: the process is better restarted. */
  isAlive(): boolean;
  /** Rejects while the service cannot do its work; the broker is not part of it, the outbox absorbs it. */
  checkReady(): Promise<void>;
};

export type Health = AsyncDisposable & {
  readonly port: number;
  /** First step of a graceful stop: no new traffic, while everything still works. */
  setNotReady(): void;
};

/** The listener of probes and metrics, which stays plain: `/livez`, `/readyz`, `/metrics`. */
export async function startHealth(options: HealthOptions): Promise<Health> {
  let stopping = false;
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.writeHead(500).end());
  });
  server.listen(options.port, options.host);
  await once(server, 'listening');
  return {
    port: portOf(server),
    setNotReady: () => {
      stopping = true;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    switch (`${request.method} ${request.url}`) {
      case 'GET /livez':
        return void response.writeHead(options.isAlive() ? 200 : 503).end();
      case 'GET /readyz':
        return void response.writeHead((await isReady()) ? 200 : 503).end();
      case 'GET /metrics':
        return await answerMetrics(response);
      default:
        return void response.writeHead(404).end();
    }
  }

  async function isReady(): Promise<boolean> {
    if (stopping) return false;
    const isReady = options.checkReady().then(
      () => true,
      () => false,
    );
    return await within(CHECK_TIMEOUT_MS, isReady, false);
  }
}

async function answerMetrics(response: ServerResponse): Promise<void> {
  const text = await renderMetrics();
  if (text === null) return void response.writeHead(503).end();
  response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text);
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
