/** `none`: no token could be had; `cause` is a word for logs. */
export type TokenResult = { kind: 'token'; value: string } | { kind: 'none'; cause: string };

export type IssuedToken =
  | { kind: 'token'; value: string; expiresInSeconds: number }
  | { kind: 'none'; cause: string };

export type TokenSource = {
  /** The token in force, or a new one. Settles when `signal` aborts, while the refresh goes on for others. */
  get(signal: AbortSignal): Promise<TokenResult>;
  /** Forgets a token that the acquirer no longer takes, unless it has been replaced already. */
  drop(value: string): void;
};

/** A token is not used within this time of its end, or within a tenth of its life if that is shorter. */
const RENEW_BEFORE_MS = 60_000;
const RENEW_BEFORE_SHARE = 0.1;

/**
 * Keeps one OAuth2 token and fetches the next one when needed, one request at a time however many wait.
 * `now` is a clock that never jumps, in milliseconds.
 */
export function createTokenSource(deps: {
  fetchToken: () => Promise<IssuedToken>;
  now: () => number;
}): TokenSource {
  let held: { value: string; freshUntilMs: number } | null = null;
  let refreshing: Promise<TokenResult> | null = null;
  return {
    get: async (signal) => {
      if (held !== null && deps.now() < held.freshUntilMs) {
        return { kind: 'token', value: held.value };
      }
      refreshing ??= refresh().finally(() => {
        refreshing = null;
      });
      return await untilAborted(refreshing, signal);
    },
    drop: (value) => {
      if (held?.value === value) held = null;
    },
  };

  async function refresh(): Promise<TokenResult> {
    const askedAtMs = deps.now();
    const issued = await deps.fetchToken();
    if (issued.kind === 'none') return issued;
    const lifeMs = issued.expiresInSeconds * 1000;
    const marginMs = Math.min(RENEW_BEFORE_MS, lifeMs * RENEW_BEFORE_SHARE);
    held = { value: issued.value, freshUntilMs: askedAtMs + lifeMs - marginMs };
    return { kind: 'token', value: issued.value };
  }
}

async function untilAborted(
  refreshing: Promise<TokenResult>,
  signal: AbortSignal,
): Promise<TokenResult> {
  const aborted = Promise.withResolvers<TokenResult>();
  const onAbort = (): void => aborted.resolve({ kind: 'none', cause: 'timeout' });
  signal.addEventListener('abort', onAbort);
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([refreshing, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
