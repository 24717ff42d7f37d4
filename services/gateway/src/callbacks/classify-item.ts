import type { CallbackKind } from '@pixmesh/contracts/messages/acquirer-callback.v1';

/** Ids as the acquirer writes them (txid 26–35, idEnvio 1–35, end-to-end id 32 characters), with room. */
const KEY_PATTERN = /^[0-9A-Za-z]{1,64}$/;

export type CallbackItem = Readonly<Record<string, unknown>>;

/**
 * Decides which service an item is for, by its shape alone: what we sent has `gnExtras.idEnvio` or `tipo`; what we
 * received has an end-to-end id, with a txid or not; `devolucoes` make either a return. Nothing here is believed: the
 * owner checks the status at the acquirer.
 */
export function classifyItem(item: CallbackItem): CallbackKind {
  const returned = Array.isArray(item['devolucoes']) && item['devolucoes'].length > 0;
  if (isText(idEnvioOf(item)) || isText(item['tipo'])) return returned ? 'sent_return' : 'sent';
  if (returned) return 'received_return';
  return isText(item['endToEndId']) ? 'received' : 'unknown';
}

/**
 * The Kafka key of an item: the id whose order matters. An id that no acquirer would write is no key, since it
 * may not be storable; then the id of the callback stands in, and the item still arrives.
 */
export function keyOfItem(item: CallbackItem, kind: CallbackKind, callbackId: string): string {
  const sent = kind === 'sent' || kind === 'sent_return';
  const first = sent ? idEnvioOf(item) : item['txid'];
  const key = [first, item['endToEndId']].find(
    (value) => typeof value === 'string' && KEY_PATTERN.test(value),
  );
  return typeof key === 'string' ? key : callbackId;
}

/** Whether a body that is no list may be an item itself; a registration's test call is none. */
export function looksLikeItem(body: CallbackItem): boolean {
  return isText(body['endToEndId']) || isText(body['txid']) || isText(idEnvioOf(body));
}

function idEnvioOf(item: CallbackItem): unknown {
  const extras = item['gnExtras'];
  return typeof extras === 'object' && extras !== null
    ? (extras as CallbackItem)['idEnvio']
    : undefined;
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
