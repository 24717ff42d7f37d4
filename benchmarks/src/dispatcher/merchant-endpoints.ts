import { newId } from '@pixmesh/kernel/ids';
import { sealSecret } from '@pixmesh/kernel/sealed-secret';

import { queryOnce } from '../durable-server.ts';
import { RECEIVER_PATHS } from './receiver-paths.ts';

export const EVENT_TYPE = 'charge.pix.paid';

/** An endpoint of a merchant of its own: an event of its application makes exactly one delivery. */
export type MerchantEndpoint = {
  id: string;
  accountId: string;
  applicationId: string;
  url: string;
};

type Behaviour = keyof typeof RECEIVER_PATHS;

/**
 * Endpoints under names that `*.receiver.example.com` covers; `behaviourOf` by their place in the list, by default all
 * answer at once.
 */
export function makeEndpoints(
  count: number,
  behaviourOf: (index: number) => Behaviour = () => 'answers',
): MerchantEndpoint[] {
  return Array.from({ length: count }, (_, index) => {
    const id = newId();
    const host = `m${id.slice(-12)}.receiver.example.com`;
    const url = `http://${host}${RECEIVER_PATHS[behaviourOf(index)]}`;
    return { id, accountId: newId(), applicationId: newId(), url };
  });
}

/** Registers them as if yesterday: an endpoint receives nothing of what happened before it. */
export async function storeEndpoints(
  databaseUrl: string,
  endpoints: readonly MerchantEndpoint[],
  { secret, sealingPublicKey }: { secret: string; sealingPublicKey: string },
): Promise<void> {
  const sealed = endpoints.map(({ id, accountId }) =>
    sealSecret(sealingPublicKey, secret, `${accountId}/${id}`),
  );
  await queryOnce(
    databaseUrl,
    `insert into webhook_dispatcher.endpoints
       (id, account_id, application_id, url, description, events, active, sealed_secret, created_at)
     select id, account_id, application_id, url, '', $5::text[], true, sealed_secret,
       now() - interval '1 day'
     from unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::text[], $6::text[])
       as endpoint (id, account_id, application_id, url, sealed_secret)`,
    [
      endpoints.map(({ id }) => id),
      endpoints.map(({ accountId }) => accountId),
      endpoints.map(({ applicationId }) => applicationId),
      endpoints.map(({ url }) => url),
      [EVENT_TYPE],
      sealed,
    ],
  );
}
