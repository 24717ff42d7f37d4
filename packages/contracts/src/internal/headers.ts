/** Headers between services. The gateway writes them itself, and passes none of a client's on. */
export const INTERNAL_HEADERS = {
  /** On whose behalf the gateway calls (`Claims`), as JSON in base64url. From anybody else it is a reason to refuse. */
  claims: 'x-pixmesh-claims',
  /** Milliseconds the caller will still wait. */
  timeoutMs: 'x-pixmesh-timeout-ms',
  /** The `X-Request-Id` of the request that the call is made for. */
  requestId: 'x-pixmesh-request-id',
} as const;

/** Public answer headers (decision 223). */
export const ANSWER_HEADERS = {
  requestId: 'x-request-id',
  replayed: 'idempotent-replayed',
  mismatch: 'idempotency-mismatch',
} as const;
