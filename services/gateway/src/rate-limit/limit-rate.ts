import { explained } from '@pixmesh/http/refusal';
import type { ApiKeyId } from '@pixmesh/kernel/ids';
import type { FastifyReply } from 'fastify';

/** How one request stands against the quota of its key. */
export type RateVerdict = { kind: 'within' } | { kind: 'exceeded'; retryAfterMs: number };

export type RateCounters = AsyncDisposable & {
  /** Counts one request of a key. Never throws and never waits long: without an answer it is within. */
  count(keyId: ApiKeyId): Promise<RateVerdict>;
};

/** Refuses a request of a key that has used up its quota; null where the limit is switched off. */
export type LimitRate = ((keyId: ApiKeyId, reply: FastifyReply) => Promise<void>) | null;

/**
 * The limit as the public listener applies it (specification, Limits): right after the key was accepted, so that
 * nobody uses up the quota of a key they do not have, and before anything is done for it.
 */
export function createLimitRate(counters: RateCounters | null): LimitRate {
  if (counters === null) return null;
  return async (keyId, reply) => {
    const verdict = await counters.count(keyId);
    if (verdict.kind === 'within') return;
    // Whole seconds (RFC 9110 section 10.2.3), and never so early that the next try is refused again.
    reply.header('retry-after', String(Math.max(1, Math.ceil(verdict.retryAfterMs / 1000))));
    throw explained('RATE_LIMITED', 'The header Retry-After says when to go on.');
  };
}
