import type { OpenApiDocument, Reference, Response } from './document.ts';

/** A response as it is described, wherever in the document that stands. */
export function resolveResponse(
  response: Response | Reference,
  { components }: OpenApiDocument,
): Response {
  if (!('$ref' in response)) return response;
  const name = response.$ref.split('/').at(-1) ?? '';
  const found = components.responses?.[name];
  if (found === undefined) throw new Error(`${response.$ref} is not in the document`);
  return found;
}

/** The codes that an error response may carry: its examples bear their names. */
export function codesOfResponse({ content }: Response): string[] {
  return Object.keys(content?.['application/json'].examples ?? {});
}
