import assert from 'node:assert';
import { createSecureContext } from 'node:tls';

import { AppError } from '@pixmesh/kernel/app-error';
import { Pool } from 'undici';

import { createTokenSource, type IssuedToken } from './access-token.ts';
import type { Acquirer, CallOptions, Lookup, ReceivedPix } from './acquirer.ts';
import { TokenAnswer } from './answer-schemas.ts';
import { type CallAcquirer, createCallAcquirer } from './call-acquirer.ts';
import { CALLS_MAX } from './calls-in-turn.ts';
import { cancelCharge, getCharge, issueCharge } from './charge-calls.ts';
import { exchange } from './exchange.ts';
import { submitDefense } from './dispute-calls.ts';
import { DISPUTES, listing, RECEIVED, SENT } from './list-calls.ts';
import { lookUp } from './look-up.ts';
import { getPayout, readBalance, sendPayout } from './payout-calls.ts';
import { readReceivedPix } from './read-answer.ts';
import { getRefund, refund } from './refund-calls.ts';
import { withinLimit } from './within-limit.ts';

export type AcquirerConfig = {
  url: string;
  clientId: string;
  clientSecret: string;
  /** The installation's own key: every charge is paid to it, every payout from it. */
  pixKey: string;
  /** Limit of one operation: token, request and answer together. */
  timeoutMs: number;
  /** How we and the acquirer know each other; without it, any authority that Node trusts will do. */
  tls?: ClientTls | undefined;
};

/** PEM texts. The acquirer's own certificate is always checked, against `ca` alone. */
export type ClientTls = { ca: string; cert: string; key: string };

/** Idle connections end before the provider's side ends them under a request. */
const KEEP_ALIVE_TIMEOUT_MS = 15_000;

/** A start does not wait longer for an acquirer that is away or slow. */
const WARM_UP_MS_MAX = 2_000;

/** Opens the acquirer's API. Nothing is called before it is warmed up, or the first operation. */
export function createAcquirer(config: AcquirerConfig): Acquirer {
  const { origin, protocol } = new URL(config.url);
  assert(config.tls === undefined || protocol === 'https:', 'a certificate needs an https URL');
  const pool = new Pool(origin, {
    // A call for a token needs one of its own while all places are taken.
    connections: CALLS_MAX + 1,
    connectTimeout: config.timeoutMs,
    // The operation's own deadline covers headers and body.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT_MS,
    // One request on a connection at a time: what ends one with its connection ends no other.
    allowH2: false,
    // Made once and not once a connection: reading PEM texts costs as much as the handshake.
    connect: { secureContext: createSecureContext(config.tls), rejectUnauthorized: true },
  });
  const tokens = createTokenSource({
    fetchToken: () => fetchToken(pool, config),
    now: () => performance.now(),
  });
  const call = createCallAcquirer({ pool, tokens, timeoutMs: config.timeoutMs });
  return {
    warmUp: async () => void (await tokens.get(AbortSignal.timeout(WARM_UP_MS_MAX))),
    issueCharge: (input, options) => issueCharge({ call, pixKey: config.pixKey }, input, options),
    getCharge: (txid, options) => getCharge(call, txid, options),
    cancelCharge: (txid, options) => cancelCharge(call, txid, options),
    getReceived: (endToEndId, options) => getReceived(call, endToEndId, options),
    listReceived: listing(call, RECEIVED),
    sendPayout: (input, options) => sendPayout({ call, pixKey: config.pixKey }, input, options),
    getPayout: (idEnvio, options) => getPayout(call, idEnvio, options),
    listSent: listing(call, SENT),
    refund: (input, options) => refund(call, input, options),
    getRefund: (endToEndId, refundId, options) =>
      getRefund(call, { endToEndId, refundId }, options),
    listDisputes: listing(call, DISPUTES),
    submitDefense: (input, options) => submitDefense(call, input, options),
    balance: (options) => readBalance(call, options),
    registerCallback: async (url, options) =>
      await registerCallback({ call, pixKey: config.pixKey }, url, options),
    [Symbol.asyncDispose]: async () => await pool.destroy(),
  };
}

async function getReceived(
  call: CallAcquirer,
  endToEndId: string,
  options: CallOptions | undefined,
): Promise<Lookup<ReceivedPix>> {
  return await lookUp(call, {
    operation: 'getReceived',
    path: `/v2/pix/${encodeURIComponent(endToEndId)}`,
    read: (body) => readReceivedPix(body, endToEndId),
    options,
  });
}

/**
 * The URL carries the secret that authenticates callbacks, with the acquirer's certificate or without (decision 211).
 */
async function registerCallback(
  deps: { call: CallAcquirer; pixKey: string },
  url: string,
  options: (CallOptions & { mutualTls?: boolean }) | undefined,
): Promise<void> {
  const result = await deps.call({
    operation: 'registerCallback',
    method: 'PUT',
    path: `/v2/webhook/${encodeURIComponent(deps.pixKey)}`,
    ...(!options?.mutualTls && { headers: { 'x-skip-mtls-checking': 'true' } }),
    body: { webhookUrl: url },
    options,
  });
  if (result.kind === 'done') return;
  const message = `the acquirer did not take the callback URL: ${describe(result)}`;
  const code = result.kind === 'refused' ? 'ACQUIRER_REJECTED' : 'DEPENDENCY_UNAVAILABLE';
  throw new AppError(code, { message });
}

function describe(result: { kind: string; cause?: string; code?: string }): string {
  return result.cause ?? result.code ?? result.kind;
}

/** Bounded by itself, because many operations may wait for one token. */
async function fetchToken(pool: Pool, config: AcquirerConfig): Promise<IssuedToken> {
  const credentials = Buffer.from(`${config.clientId}:${config.clientSecret}`).toString('base64');
  const answer = await withinLimit(config.timeoutMs, (signal) =>
    exchange(pool, {
      method: 'POST',
      path: '/oauth/token',
      headers: { authorization: `Basic ${credentials}`, 'content-type': 'application/json' },
      body: { grant_type: 'client_credentials' },
      signal,
    }),
  );
  if (answer.kind === 'no_answer') return { kind: 'none', cause: answer.cause };
  if (answer.status !== 200) return { kind: 'none', cause: `status_${answer.status}` };
  const { data } = TokenAnswer.safeParse(answer.body);
  if (data === undefined) return { kind: 'none', cause: 'unreadable' };
  return { kind: 'token', value: data.access_token, expiresInSeconds: data.expires_in };
}
