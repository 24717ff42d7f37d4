import type { FastifyReply } from 'fastify';

import type { Caller } from '#authentication/authenticate-key.ts';

import { type KeyDefault, limitsOf } from './limits-of.ts';
import { refuseForNow } from './refuse-for-now.ts';
import type { RequestCounters } from './request-counters.ts';

/** Refuses a request that is over a limit of its key or account; otherwise answers how to give its place back. */
export type AdmitRequest = (caller: Caller, reply: FastifyReply) => Promise<() => void>;

/**
 * The limits as the public listener applies them (decisions 272, 273): right after the key was accepted, so that
 * nobody uses up the limit of a key they do not have, and before anything is done for it. For who has no limit Redis is
 * not asked.
 */
export function createAdmitRequest(
  counters: Pick<RequestCounters, 'admit'>,
  keyDefault: KeyDefault,
): AdmitRequest {
  return async (caller, reply) => {
    const admission = await counters.admit(limitsOf(caller, keyDefault));
    if (admission.kind === 'admitted') return admission.end;
    const { refusal: message, retryAfterMs } = admission;
    throw refuseForNow(reply, { message, retryAfterMs });
  };
}
