import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import type { ForwardableAnswer } from '#forwarding/forwardable-answer.ts';

import type { AuditAction, TargetKind } from '../audit/record-change.ts';
import { changeAudited } from './audited-change.ts';
import {
  callOwner,
  type OwnerAndTablesDeps,
  type OwnerService,
  parseJson,
  readAnswer,
} from './call-owner.ts';

export type OwnedChange<Schema extends z.ZodType<{ id: string }>> = {
  owner: OwnerService;
  /** Who has it changed, where that depends on the resource. */
  ownerOf?(resource: z.output<Schema>): OwnerService;
  /** Who shows the resource, where that is another service. */
  reader?: OwnerService;
  kind: TargetKind;
  /** Where the resource is read, and where its change is asked for. */
  get: string;
  path: string;
  schema: Schema;
  asked: AuditAction;
  done: AuditAction;
  /** What of the resource its changes may concern, and the audit is of; absent: all of it. */
  auditedOf?(shown: Record<string, unknown>): object;
  /** Whether such a change is still possible; absent: always. */
  mayChange?(resource: z.output<Schema>): boolean;
  /**
   * What the owner is sent; absent: nothing. Runs once the resource was found: unknown ids are answered before a body
   * is read (decision 155). Bytes go as they are.
   */
  toBody?(resource: z.output<Schema>, request: FastifyRequest): Promise<object> | object;
};

/**
 * Has an owner change a resource that the path names, recorded with its states before and after. Of one that allows no
 * such change any more, its owner answers the repeat or refuses, and there is nothing to record.
 */
export async function changeOwned<Schema extends z.ZodType<{ id: string }>>(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
  change: OwnedChange<Schema>,
): Promise<ForwardableAnswer> {
  const { owner, reader = owner, kind, asked, done, auditedOf = (shown) => shown } = change;
  const read = await callOwner(deps, reader, {
    request,
    method: 'GET',
    path: buildUpstreamPath(change.get, request.params as { id: string }, ''),
  });
  if (read.status === 404) return read;
  const resource = readAnswer(change.schema, reader, read);
  const content = await change.toBody?.(resource, request);
  const path = buildUpstreamPath(change.path, { id: resource.id }, '');
  const ask = () =>
    callOwner(deps, change.ownerOf?.(resource) ?? owner, {
      request,
      method: 'POST',
      path,
      ...toSent(content),
    });
  if (change.mayChange?.(resource) === false) return await ask();
  const before = auditedOf(parseJson(read.body) as Record<string, unknown>);
  const target = { kind, id: resource.id };
  const audited = { actor: request.actor, target, asked, done, before, auditedOf };
  return await changeAudited(deps.db, audited, ask);
}

function toSent(content: object | undefined): { body?: Buffer } {
  if (content === undefined) return {};
  return { body: Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content)) };
}
