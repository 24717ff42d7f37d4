/** One request as it was answered. */
export type LoggedRequest = {
  id: string;
  /** Null where the request was not authenticated. */
  caller: { accountId: string; applicationId: string; keyId: string } | null;
  /** Null where the bytes that came were no HTTP. */
  method: string | null;
  /** The template, never the path: paths hold ids. Null where no route was met. */
  route: string | null;
  status: number;
  durationMs: number;
  requestId: string;
  /** Null where the client had left, and before it was recorded. */
  clientAddress: string | null;
  /** Null where nothing is traced. */
  traceId: string | null;
  idempotencyMismatch: boolean;
  /** When it came, to the millisecond of its id. */
  createdAt: Date;
};
