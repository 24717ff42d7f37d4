import type {
  DeadLetter,
  DeadLetterStatus,
  InspectedDeadLetter,
} from '@pixmesh/contracts/internal/dead-letters';
import { redactMessage } from '@pixmesh/telemetry/redact';
import { fromMessageHeaders, traceIdOf } from '@pixmesh/telemetry/tracing';

/** A parked message as its service keeps it. */
export type StoredLetter = {
  id: string;
  consumer: string;
  topic: string;
  partition: number;
  offset: bigint;
  key: string | null;
  headers: Record<string, string>;
  value: Buffer | null;
  code: string;
  reason: string;
  createdAt: Date;
  replayedAt: Date | null;
  dismissedAt: Date | null;
  dismissedBy: string | null;
  dismissedReason: string | null;
};

/** The letter without its message. */
export function describeLetter(letter: StoredLetter): DeadLetter {
  return {
    id: letter.id,
    object: 'dead_letter',
    status: statusOf(letter),
    consumer: letter.consumer,
    topic: letter.topic,
    partition: letter.partition,
    offset: String(letter.offset),
    key: letter.key,
    code: letter.code,
    reason: letter.reason,
    created_at: letter.createdAt.toISOString(),
    replayed_at: letter.replayedAt?.toISOString() ?? null,
    dismissed_at: letter.dismissedAt?.toISOString() ?? null,
    dismissed_by: letter.dismissedBy,
    dismissed_reason: letter.dismissedReason,
  };
}

/** The letter with as much of its message as people may see. */
export function inspectLetter(letter: StoredLetter): InspectedDeadLetter {
  const { headers, value } = letter;
  return {
    ...describeLetter(letter),
    event_id: headers['event_id'] ?? null,
    type: headers['type'] ?? null,
    trace_id: traceIdOf(fromMessageHeaders(headers)),
    payload: value === null ? null : redactMessage(decode(value)),
    payload_bytes: value?.length ?? 0,
  };
}

function statusOf(letter: StoredLetter): DeadLetterStatus {
  if (letter.dismissedAt !== null) return 'dismissed';
  return letter.replayedAt === null ? 'open' : 'replayed';
}

/** What the registry's codec writes in front of the JSON: a zero and the id of the schema. */
const FRAME_BYTES = 5;

/** Without the registry, which may be what is away. Null for what is no JSON. */
function decode(value: Buffer): unknown {
  const json = value[0] === 0 ? value.subarray(FRAME_BYTES) : value;
  try {
    return JSON.parse(json.toString('utf8'));
  } catch {
    return null;
  }
}
