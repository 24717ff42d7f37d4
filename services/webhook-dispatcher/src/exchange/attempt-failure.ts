/** Why an attempt failed, as a bounded set: the label of the metric and the first word of the stored error. */
export type FailureReason =
  | 'url_refused'
  | 'dns_failed'
  | 'address_refused'
  | 'connect_failed'
  | 'tls_failed'
  | 'connection_lost'
  | 'bad_response'
  | 'timeout'
  | 'status'
  | 'secret_unreadable';

/** A failed attempt with its reason. The message is shown to operators and never holds a secret or a query. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';
  readonly reason: FailureReason;

  constructor(reason: FailureReason, message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.reason = reason;
  }
}

const TLS_CODES =
  /^(ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH|EPROTO)/;
const BAD_RESPONSE_CODES =
  /^(HPE_|HTTPParserError|UND_ERR_HEADERS_OVERFLOW|UND_ERR_RES|UND_ERR_INFO)/;
const CODE_PATTERN = /^[A-Z][A-Z0-9_]+$/;

/** A connection that could not be made; nothing was sent, so another address of the name may be tried. */
export function connectFailure(cause: unknown): AttemptFailure {
  const code = codeOf(cause);
  const reason = TLS_CODES.test(code) ? 'tls_failed' : 'connect_failed';
  return new AttemptFailure(reason, code, { cause });
}

/** Names what went wrong once a request was under way. */
export function toAttemptFailure(error: unknown): AttemptFailure {
  if (error instanceof AttemptFailure) return error;
  const code = codeOf(error);
  const reason = BAD_RESPONSE_CODES.test(code) ? 'bad_response' : 'connection_lost';
  return new AttemptFailure(reason, code, { cause: error });
}

/** Codes only: messages of libraries quote addresses, header values and certificates of others. */
function codeOf(error: unknown): string {
  const { code, name } = Object(error) as { code?: unknown; name?: unknown };
  if (typeof code === 'string' && CODE_PATTERN.test(code)) return code;
  return typeof name === 'string' ? name : 'unknown';
}
