import type { Database } from '@pixmesh/postgres/pool';

import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import { type AuditAction, recordChange } from '../audit/record-change.ts';
import { parseJson } from './call-owner.ts';

type AuditedChange = {
  actor: string;
  target: Parameters<typeof recordChange>[1]['target'];
  asked: AuditAction;
  done: AuditAction;
  before: object | null;
  /** The part of the owner's answer that the audit is of; absent: all of it. */
  auditedOf?(shown: Record<string, unknown>): object;
};

/**
 * Has an owner make a change and records it. The owner's transaction is not ours, so one entry records that it was
 * asked for, and is written first: no change can go unrecorded, also when no answer comes. A second one records that
 * it was made, with digests of the resource before and after.
 */
export async function changeAudited(
  db: Database,
  { actor, target, asked, done, before, auditedOf = (shown) => shown }: AuditedChange,
  change: () => Promise<ForwardableAnswer>,
): Promise<ForwardableAnswer> {
  await db.transaction((tx) =>
    recordChange(tx, { actor, action: asked, target, before: null, after: null }),
  );
  const answer = await change();
  // A repeat is marked by its owner: an earlier or faster call made the change.
  if (answer.status >= 300 || answer.replayed) return answer;
  const after = auditedOf((parseJson(answer.body) ?? {}) as Record<string, unknown>);
  await db.transaction((tx) => recordChange(tx, { actor, action: done, target, before, after }));
  return answer;
}
