import { constants } from 'node:crypto';
import type { SecureContextOptions, Server as TlsServer } from 'node:tls';

import type { Logger } from '@pixmesh/telemetry/logger';
import { durationHistogram } from '@pixmesh/telemetry/metrics';
import { bindToRequest } from '@pixmesh/telemetry/request-id';
import { nameServerSpan } from '@pixmesh/telemetry/tracing';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

import { refuseAmbiguousRequests } from './ambiguous-requests.ts';
import { nameUnknownBodies } from './body-headers.ts';
import { answerClientError, type RefusedConnection } from './client-error.ts';
import { endConnections } from './end-connections.ts';
import { isUnexpected, namingLimit, sendError } from './error-reply.ts';
import { enterRequests, receivedRequestId, type RequestIdOf } from './request-context.ts';
import { makeDecodable } from './request-target.ts';
import { answerUnknownRoutes } from './unknown-routes.ts';
import { endUnreadAnswers } from './unread-answers.ts';

/** Largest body that is read; above it 413 (decision 247). */
export const BODY_BYTES_MAX = 64 * 1024;
/** Largest head of a request from outside. */
export const EDGE_HEADER_BYTES_MAX = 8 * 1024;
/**
 * Largest head of a request from the gateway: an id of any length keeps its 404 (decision 14) also where each of its
 * characters was escaped on the way, to six characters for a byte beyond ASCII, and the claims come on top.
 */
export const PEER_HEADER_BYTES_MAX = 7 * EDGE_HEADER_BYTES_MAX;
/** Node's defaults are generous to slow and hostile clients; these are not. */
const HEADERS_TIMEOUT_MS = 5_000;
/** How long a request may take to arrive, its body included. */
const ARRIVAL_MS_MAX = 15_000;
/** How often the two are checked: Node's own 30 s would make them mean nothing. */
const TIMEOUTS_CHECK_INTERVAL_MS = 1_000;
/**
 * Node closes those beyond it unread. The gateway counts them (`gateway_connections_refused_total`); at a service of the
 * mesh they are calls without an answer, which their callers count (`http_client_duration_seconds{outcome="none"}`).
 */
const CONNECTIONS_MAX = 10_000;
const REQUESTS_PER_SOCKET_MAX = 100_000;
/** What proxies note where the client left before its answer; it never goes on the wire. */
const STATUS_CLIENT_LEFT = 499;
/** Longer than any id: an ill-formed id must reach its route and get that route's 404 (decision 14). */
const PARAM_LENGTH_MAX = PEER_HEADER_BYTES_MAX;

/** PEM texts of a listener that serves HTTPS, and the authorities whose clients it takes. They may change. */
export type MutualTls = {
  current(): { ca: string; cert: string; key: string };
  onChange(listener: () => void): void;
};

/** Those that stay as they are while the process runs. */
export function fixedTls(texts: { ca: string; cert: string; key: string }): MutualTls {
  return { current: () => texts, onChange: () => undefined };
}

type ServiceAppOptions = {
  logger: Logger;
  /** Label of this listener in metrics. */
  listener: string;
  bodyBytesMax?: number;
  /** Serves HTTPS to clients that show a certificate of those authorities, and to nobody else. */
  mutualTls?: MutualTls | undefined;
  /** `EDGE_HEADER_BYTES_MAX` for a listener for callers outside the mesh. */
  headerBytesMax?: number;
  /** For a listener for callers outside the mesh, whose own headers must not be taken over. */
  requestIdOf?: RequestIdOf;
  /** Called once for each request: when it was answered or refused, or when its client left before (status 499). */
  onAnswered?: (request: FastifyRequest, reply: FastifyReply, answered: Answered) => void;
  /** Called for each answer to bytes that were no HTTP, which no hook sees. */
  onRefused?: (refused: RefusedConnection) => void;
};

/** How a request ended, and how long after its headers had come. */
export type Answered = { status: number; durationMs: number };

/**
 * A fastify instance with everything the mesh's listeners have in common: bodies as raw bytes, the error
 * envelope for every failure including those of the framework, one log line and one measurement a request.
 */
export function createServiceApp(options: ServiceAppOptions): FastifyInstance {
  const { bodyBytesMax = BODY_BYTES_MAX } = options;
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    requestTimeout: ARRIVAL_MS_MAX,
    maxRequestsPerSocket: REQUESTS_PER_SOCKET_MAX,
    ...serverOptions(options),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: PARAM_LENGTH_MAX },
    rewriteUrl: ({ url = '' }) => makeDecodable(url),
    clientErrorHandler: (error, socket) => answerClientError(error, socket, options.onRefused),
    frameworkErrors: (error, _request, reply) => {
      void sendError(reply, error);
    },
  });
  app.server.maxConnections = CONNECTIONS_MAX;
  if (options.mutualTls !== undefined) followTexts(app, options.mutualTls);
  // An expectation we do not know changes nothing (RFC 9110 section 10.1.1); Node's refusal has no body.
  app.server.on('checkExpectation', (request, response) => {
    app.server.emit('request', request, response);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error, request, reply) => {
    if (isUnexpected(error)) {
      options.logger.error({ err: error, route: request.routeOptions.url }, 'request failed');
    }
    return sendError(reply, namingLimit(error, bodyBytesMax));
  });
  enterRequests(app, options.requestIdOf ?? receivedRequestId);
  observeRequests(app, options);
  endConnections(app);
  endUnreadAnswers(app.server);
  refuseAmbiguousRequests(app);
  nameUnknownBodies(app);
  answerUnknownRoutes(app);
  return app;
}

/** Settings of Node's own server, by the protocol that it speaks. */
function serverOptions({ mutualTls, headerBytesMax }: ServiceAppOptions): object {
  const http = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUTS_CHECK_INTERVAL_MS,
    maxHeaderSize: headerBytesMax ?? PEER_HEADER_BYTES_MAX,
    // Node's own refusal has no body; `refuseAmbiguousRequests` answers with the envelope instead.
    requireHostHeader: false,
  };
  if (mutualTls === undefined) return { http };
  const https = { ...http, ...secureContextOf(mutualTls), handshakeTimeout: HEADERS_TIMEOUT_MS };
  return { https: { ...https, requestCert: true, rejectUnauthorized: true } };
}

function secureContextOf(tls: MutualTls): SecureContextOptions {
  const { ca, cert, key } = tls.current();
  // No session is resumed: each connection is proven by a certificate, and no ticket outlives its trust.
  return { ca, cert, key, minVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET };
}

/** New texts hold from the next connection on. */
function followTexts(app: FastifyInstance, tls: MutualTls): void {
  const server = app.server as unknown as TlsServer;
  tls.onChange(() => server.setSecureContext(secureContextOf(tls)));
}

/**
 * Has the routes of a context take no body: one that is sent all the same is thrown away, however large it is, and
 * is not checked by any rule.
 */
export function ignoreBodies(context: FastifyInstance): void {
  context.removeAllContentTypeParsers();
  // Node reads what nobody wanted to the end once the request is answered.
  context.addContentTypeParser('*', (_request, _payload, done) => done(null));
}

/** The request's body as bytes; empty when none was sent. */
export function rawBody(body: unknown): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/**
 * By the end of the response and not in `onResponse`, which never comes where the client left before it; without one,
 * `reply.elapsedTime` stays 0.
 */
function observeRequests(app: FastifyInstance, options: ServiceAppOptions): void {
  const duration = durationHistogram('http_server_duration_seconds', 'Time to answer a request');
  app.addHook('onRequest', async (request, reply) => {
    const startedMs = performance.now();
    nameServerSpan(request.method, request.routeOptions.url ?? 'unknown');
    const onClose = bindToRequest(() => {
      const status = reply.raw.headersSent ? reply.statusCode : STATUS_CLIENT_LEFT;
      const answered = { status, durationMs: performance.now() - startedMs };
      measure(request, answered);
      options.onAnswered?.(request, reply, answered);
    });
    reply.raw.once('close', onClose);
  });

  function measure(request: FastifyRequest, { status, durationMs }: Answered): void {
    const route = request.routeOptions.url ?? 'unknown';
    const seconds = durationMs / 1000;
    duration.record(seconds, { listener: options.listener, method: request.method, route, status });
    options.logger.debug(
      { listener: options.listener, method: request.method, route, status, seconds },
      'request',
    );
  }
}
