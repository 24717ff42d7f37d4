import { createHash, hash, randomUUIDv7 } from 'node:crypto';

type Branded<Kind extends string> = string & { readonly __kind: Kind };

export type AccountId = Branded<'account'>;
export type ApplicationId = Branded<'application'>;
export type ApiKeyId = Branded<'api-key'>;
export type ChargeId = Branded<'charge'>;
export type PayoutId = Branded<'payout'>;
export type RefundId = Branded<'refund'>;
export type DisputeId = Branded<'dispute'>;
export type HoldId = Branded<'hold'>;
export type OperatorId = Branded<'operator'>;
export type DeliveryId = Branded<'delivery'>;
export type EndpointId = Branded<'endpoint'>;

const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const END_TO_END_ID_PATTERN = /^[\x21-\x7e]{1,64}$/;

/** RFC 9562 section 5.9. */
export const NIL_ID = '00000000-0000-0000-0000-000000000000';

/** The namespace under which `command_id`s of the ledger are derived. Fixed for ever. */
const COMMAND_NAMESPACE = '5f3c1a52-9a0e-5d2e-8a54-1d8f6f0b7c11';

/** Where a UUIDv7 holds its milliseconds, and the twelve bits behind its version. */
const TIME_END = 13;
const COUNTER_START = 15;
const COUNTER_END = 18;
/** A counter begins at random in the lower half of its bits: at least 2,048 ids of one millisecond are in order. */
const COUNTER_BEGIN_MAX = 0x7ff;
const COUNTER_MAX = 0xfff;

let newestTime = '';
let counter = 0;

/**
 * A new time-ordered id (RFC 9562 sections 5.7 and 6.2, method 1) of any kind that is not derived from a key. Ids of
 * one process are in the order of their making, also within a millisecond: what is listed by id is listed as it
 * happened. The last 62 bits of each are random.
 */
export function newId<Id extends string = string>(): Id {
  const id = randomUUIDv7() as string;
  const time = id.slice(0, TIME_END);
  const random = Number.parseInt(id.slice(COUNTER_START, COUNTER_END), 16);
  counter = time === newestTime ? Math.min(counter + 1, COUNTER_MAX) : random & COUNTER_BEGIN_MAX;
  newestTime = time;
  return `${id.slice(0, COUNTER_START)}${counter.toString(16).padStart(3, '0')}${id.slice(COUNTER_END)}` as Id;
}

/**
 * The one UUIDv7 of an instant and a key: its last 74 bits are derived from the key, so that the same two always give
 * the same id (RFC 9562 section 5.7).
 */
export function deriveTimedId<Id extends string = string>(instantMs: number, key: Buffer): Id {
  const time = instantMs.toString(16).padStart(12, '0');
  return timedId(`${time.slice(0, 8)}-${time.slice(8)}`, key) as Id;
}

/** `time`: the first 48 bits of a UUIDv7, as it is written. */
export function timedId(time: string, key: Buffer): string {
  const digest = hash('sha256', key, 'hex');
  // The variant is the two bits 10; the other two of the digit are derived.
  const variant = ((Number.parseInt(digest.charAt(3), 16) & 0x3) | 0x8).toString(16);
  const rest = [`7${digest.slice(0, 3)}`, `${variant}${digest.slice(4, 7)}`, digest.slice(7, 19)];
  return [time, ...rest].join('-');
}

/** The instant inside a UUIDv7 (RFC 9562 section 5.7). */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16));
}

/**
 * Reads a UUID in any case and returns it in lower case, or null when it is none (decisions 14, 15).
 */
export function parseId<Id extends string = string>(text: string): Id | null {
  const lower = text.toLowerCase();
  return UUID_PATTERN.test(lower) ? (lower as Id) : null;
}

/**
 * The id that a path names. An ill-formed one becomes the nil UUID, which is nobody's: its look-up takes the same
 * path as that of an unknown id, so that not even time tells the two apart (decision 14).
 */
export function readPathId<Id extends string = string>(text: string): Id {
  return parseId<Id>(text) ?? (NIL_ID as Id);
}

/**
 * The id of a creation: UUIDv5 of the namespace (application, or account under `/admin`) and
 * `<resource>:<Idempotency-Key>`. The same key means the same resource for ever (ADR 0001).
 */
export function deriveResourceId<Id extends string>(
  namespace: string,
  resource: 'charge' | 'payout' | 'refund' | 'application' | 'key' | 'message' | 'recovery',
  idempotencyKey: string,
): Id {
  return uuidV5(namespace, `${resource}:${idempotencyKey}`) as Id;
}

/** The permanent id of a ledger command: UUIDv5 of its kind and business key, unique for ever. */
export function deriveCommandId(kind: string, businessKey: string): string {
  return uuidV5(COMMAND_NAMESPACE, `${kind}:${businessKey}`);
}

/** The id of a resource at the acquirer: its own id without hyphens (decision 61). */
export function toAcquirerId(id: string): string {
  return id.replaceAll('-', '');
}

/**
 * The reverse of `toAcquirerId`, or null when the text cannot be one of our ids. The acquirer tells upper from lower
 * case, and ours are lower.
 */
export function fromAcquirerId<Id extends string>(text: string): Id | null {
  const match = /^([^A-Z]{8})([^A-Z]{4})([^A-Z]{4})([^A-Z]{4})([^A-Z]{12})$/.exec(text);
  return match ? parseId<Id>(match.slice(1).join('-')) : null;
}

/** The end-to-end id that a callback names, or null. Real ones deviate from their pattern; what is kept is bounded. */
export function readEndToEndId(value: unknown): string | null {
  return typeof value === 'string' && END_TO_END_ID_PATTERN.test(value) ? value : null;
}

/** UUID version 5 (RFC 9562 section 5.5): SHA-1 over namespace and name. */
export function uuidV5(namespace: string, name: string): string {
  const bytes = createHash('sha1')
    .update(Buffer.from(namespace.replaceAll('-', ''), 'hex'))
    .update(name, 'utf8')
    .digest();
  bytes[6] = (bytes.readUInt8(6) & 0x0f) | 0x50;
  bytes[8] = (bytes.readUInt8(8) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-');
}
