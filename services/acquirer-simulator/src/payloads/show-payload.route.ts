import type { Queryable } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { sendAnswer, toProviderError } from '#api-pix/provider-answer.ts';
import { apiPixError, JSON_TYPE } from '#api-pix/provider-error.ts';
import { LOCATION_HOST, LOCATION_PATH, locationOf } from '#charges/location.ts';

import { createPayloadSigner } from './payload-signer.ts';
import { toPayload } from './payload.ts';
import { findShownCharge } from './payloads.sql.ts';

const KEY_SET_PATH = '/.well-known/jwks.json';

type Deps = { db: Queryable; logger: Logger };

/**
 * `GET {location}`: the charge of a BR Code, signed, for all who know its URL; and the keys behind `jku`. Nobody pays
 * a charge that has ended, so it is gone from its location for good (API Pix leaves that to the provider).
 */
export function addShowPayload(app: FastifyInstance, deps: Deps): void {
  const signer = createPayloadSigner(LOCATION_HOST, `https://${LOCATION_HOST}${KEY_SET_PATH}`);
  void app.register(async (scope) => {
    scope.setErrorHandler((error, _request, reply) => {
      const answer = toProviderError(error);
      if (answer.status >= 500) deps.logger.error({ err: error }, 'request failed');
      return sendAnswer(reply, answer);
    });
    scope.get(`${LOCATION_PATH}/:pixUrlAccessToken`, async (request, reply) => {
      const { pixUrlAccessToken } = request.params as { pixUrlAccessToken: string };
      const charge = await findShownCharge(deps.db, locationOf(pixUrlAccessToken));
      if (charge === null) throw apiPixError('CobPayloadNaoEncontrado', 404);
      if (charge.status !== 'ATIVA' || charge.isExpired) {
        throw apiPixError('CobPayloadNaoEncontrado', 410);
      }
      return await reply.type('application/jose').send(await signer.sign(toPayload(charge)));
    });
    scope.get(
      KEY_SET_PATH,
      async (_request, reply) => await reply.type(JSON_TYPE).send(await signer.keySet()),
    );
  });
}
