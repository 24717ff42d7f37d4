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

/** The next token is fetched so long before the end of this one, or a tenth of its life if that is shorter. */
const RENEW_BEFORE_MS = 60_000;
const RENEW_BEFORE_SHARE = 0.1;
/** A token is not used so shortly before its end, or in the last twentieth of its life: the request takes time too. */
const END_MARGIN_MS = 5_000;
const END_MARGIN_SHARE = 0.05;
/** Between two tries to renew a token that is still good. */
const RETRY_MS = 1_000;

/**
 * Keeps one OAuth2 token. The next one is fetched beside the calls while this one is good, so that calls go on where no
 * token can be had for a while; only without a good one callers wait. One request at a time, however many wait.
 * `now` is a clock that never jumps, in milliseconds.
 */
export function createTokenSource(deps: {
  fetchToken: () => Promise<IssuedToken>;
  now: () => number;
}): TokenSource {
  let held: { value: string; renewAtMs: number; goodUntilMs: number } | null = null;
  let refreshing: Promise<TokenResult> | null = null;
  return {
    get: async (signal) => {
      const nowMs = deps.now();
      if (held === null || nowMs >= held.goodUntilMs) return await untilAborted(renew(), signal);
      if (nowMs >= held.renewAtMs) {
        held.renewAtMs = nowMs + RETRY_MS;
        void renew();
      }
      return { kind: 'token', value: held.value };
    },
    drop: (value) => {
      if (held?.value === value) held = null;
    },
  };

  function renew(): Promise<TokenResult> {
    refreshing ??= refresh().finally(() => {
      refreshing = null;
    });
    return refreshing;
  }

  async function refresh(): Promise<TokenResult> {
    const askedAtMs = deps.now();
    const issued = await deps.fetchToken();
    if (issued.kind === 'none') return issued;
    const lifeMs = issued.expiresInSeconds * 1000;
    const endMs = askedAtMs + lifeMs;
    held = {
      value: issued.value,
      renewAtMs: endMs - Math.min(RENEW_BEFORE_MS, lifeMs * RENEW_BEFORE_SHARE),
      goodUntilMs: endMs - Math.min(END_MARGIN_MS, lifeMs * END_MARGIN_SHARE),
    };
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
