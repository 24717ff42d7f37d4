import type { Socket } from 'node:net';

import { AppError } from '@pixmesh/kernel/app-error';
import type { Logger } from '@pixmesh/telemetry/logger';
import { durationHistogram } from '@pixmesh/telemetry/metrics';
import { nameServerSpan } from '@pixmesh/telemetry/tracing';
import fastify, { type FastifyInstance } from 'fastify';

import { isUnexpected, sendError, toErrorAnswer } from './error-reply.ts';
import { answerUnknownRoutes } from './unknown-routes.ts';

/** Largest body that is read; above it 413 (decision 247). */
export const BODY_BYTES_MAX = 64 * 1024;
/** Node's defaults are generous to slow and hostile clients; these are not. */
const HEADERS_TIMEOUT_MS = 5_000;
const REQUEST_TIMEOUT_MS = 15_000;
const HEADER_BYTES_MAX = 8 * 1024;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;
/** Longer than any id: an ill-formed id must reach its route and get that route's 404 (decision 14). */
const PARAM_LENGTH_MAX = HEADER_BYTES_MAX;

type ServiceAppOptions = {
  logger: Logger;
  /** Label of this listener in metrics. */
  listener: string;
  bodyBytesMax?: number;
};

/**
 * A fastify instance with everything the mesh's listeners have in common: bodies as raw bytes, the error
 * envelope for every failure including those of the framework, one log line and one measurement a request.
 */
export function createServiceApp(options: ServiceAppOptions): FastifyInstance {
  const app = fastify({
    logger: false,
    bodyLimit: options.bodyBytesMax ?? BODY_BYTES_MAX,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, maxHeaderSize: HEADER_BYTES_MAX },
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, _request, reply) => {
      void sendError(reply, error);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, request, reply) => {
    if (isUnexpected(error)) {
      options.logger.error({ err: error, route: request.routeOptions.url }, 'request failed');
    }
    return sendError(reply, error);
  });
  answerUnknownRoutes(app);
  observeRequests(app, options);
  return app;
}

/** The request's body as bytes; empty when none was sent. */
export function rawBody(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function observeRequests(app: FastifyInstance, options: ServiceAppOptions): void {
  const duration = durationHistogram('http_server_duration_seconds', 'Time to answer a request');
  app.addHook('onRequest', async (request) => {
    nameServerSpan(request.method, request.routeOptions.url ?? 'unknown');
  });
  app.addHook('onResponse', async (request, reply) => {
    const route = request.routeOptions.url ?? 'unknown';
    const seconds = reply.elapsedTime / 1000;
    const status = reply.statusCode;
    duration.record(seconds, { listener: options.listener, method: request.method, route, status });
    options.logger.debug(
      { listener: options.listener, method: request.method, route, status, seconds },
      'request',
    );
  });
}

/** What the HTTP parser refuses never reaches a route; it still gets the envelope. */
function answerClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { body } = toErrorAnswer(new AppError('VALIDATION_ERROR', { details: ['headers'] }));
  const text = JSON.stringify(body);
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}
