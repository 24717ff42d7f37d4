import { buildPublicDocument } from '../../src/openapi/build-public-document.ts';
import type { OpenApiDocument, Operation } from '../../src/openapi/document.ts';
import { resolveResponse } from '../../src/openapi/resolve-response.ts';
import { findBreakingChanges } from './find-breaking-changes.ts';

// Planted changes reach anywhere into the document.
// oxlint-disable-next-line typescript/no-explicit-any
export type Loose = any;
/** Changes a copy of the document in place; its components come along, by name. */
export type Change = (document: Loose, schemas: Loose) => void;

const before = buildPublicDocument();

/** What is refused once `change` was made to the document of today. */
export function changesAfter(change: Change): string[] {
  const after: OpenApiDocument = structuredClone(before);
  change(after, after.components.schemas);
  return findBreakingChanges(before, after);
}

/** An error of an operation, by its `$ref`: a change of it is one of every operation that refers to it. */
export function errorOf(document: Loose, { responses }: Operation, status: string): Loose {
  const described = responses[status];
  return described === undefined ? undefined : resolveResponse(described, document);
}

export function createCharge(document: Loose): Operation {
  return document.paths['/v1/charges'].post as Operation;
}
