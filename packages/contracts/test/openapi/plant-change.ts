import { buildPublicDocument } from '../../src/openapi/build-public-document.ts';
import type { OpenApiDocument, Operation } from '../../src/openapi/document.ts';
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

export function createCharge(document: Loose): Operation {
  return document.paths['/v1/charges'].post as Operation;
}
