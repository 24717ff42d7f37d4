import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';

import { prometheusExporter } from '@pixmesh/telemetry/sdk';

import { armFailpoints, type FailpointAction } from './failpoints.ts';

const CHECK_TIMEOUT_MS = 2_000;
const FAILPOINTS_BYTES_MAX = 16 * 1024;

export type HealthOptions = {
  host: string;
  port: number;
  /** False once a loop has stopped turning: the process is better restarted. */
  isAlive(): boolean;
  /** Rejects while the service cannot do its work; the broker is not part of it, the outbox absorbs it. */
  checkReady(): Promise<void>;
  /** Whether tests may arm failpoints; never in production. */
  failpointsAllowed: boolean;
};

export type Health = AsyncDisposable & {
  readonly port: number;
  /** First step of a graceful stop: no new traffic, while everything still works. */
  setNotReady(): void;
};

/** The internal listener: `/livez`, `/readyz`, `/metrics`, and failpoints outside production. */
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
        return answerMetrics(request, response);
      case 'PUT /failpoints':
        return await answerFailpoints(options, request, response);
      default:
        return void response.writeHead(404).end();
    }
  }

  async function isReady(): Promise<boolean> {
    if (stopping) return false;
    const timeout = AbortSignal.timeout(CHECK_TIMEOUT_MS);
    const expired = new Promise<false>((resolve) => {
      timeout.addEventListener('abort', () => resolve(false));
    });
    return await Promise.race([
      options.checkReady().then(
        () => true,
        () => false,
      ),
      expired,
    ]);
  }
}

function answerMetrics(request: IncomingMessage, response: ServerResponse): void {
  const exporter = prometheusExporter();
  if (!exporter) return void response.writeHead(503).end();
  exporter.getMetricsRequestHandler(request, response);
}

async function answerFailpoints(
  options: HealthOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (!options.failpointsAllowed) return void response.writeHead(404).end();
  const actions = parseActions(await readText(request));
  if (actions === null) return void response.writeHead(400).end();
  try {
    armFailpoints(actions);
    response.writeHead(204).end();
  } catch (error) {
    response.writeHead(400).end((error as Error).message);
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += String(chunk);
    if (text.length > FAILPOINTS_BYTES_MAX) break;
  }
  return text;
}

function parseActions(text: string): Record<string, FailpointAction> | null {
  try {
    const actions: unknown = JSON.parse(text);
    return typeof actions === 'object' ? (actions as Record<string, FailpointAction> | null) : null;
  } catch {
    return null;
  }
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
