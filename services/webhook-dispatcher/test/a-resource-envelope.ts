import { newId } from '@pixmesh/kernel/ids';
import { sealSecret } from '@pixmesh/kernel/sealed-secret';

export const HOOK_URL = 'http://shop.receiver.example.com/hook';

export type EnvelopeChanges = {
  event_id?: string;
  occurred_at?: string;
  account_id?: string | null;
  application_id?: string | null;
  source?: 'api' | 'dashboard' | 'checkout';
  sequence?: number;
  /** Defaults to the development receiver. */
  url?: string | null;
  /** Sealed to this public key, as the owner of the resource does it. */
  secret?: { clear: string; publicKey: string };
};

/** Everything of a resource's event but its type and its snapshot. */
export function aResourceEnvelope(
  resourceId: string,
  { url = HOOK_URL, secret, account_id, ...changes }: EnvelopeChanges,
) {
  const accountId = account_id ?? newId();
  const sealedSecret =
    secret === undefined
      ? null
      : sealSecret(secret.publicKey, secret.clear, `${accountId}/${resourceId}`);
  return {
    event_id: newId(),
    version: 1,
    occurred_at: new Date().toISOString(),
    application_id: newId(),
    source: 'api',
    sequence: 1,
    ...changes,
    account_id: accountId,
    destination: url === null ? null : { url, sealed_secret: sealedSecret },
  } as const;
}
