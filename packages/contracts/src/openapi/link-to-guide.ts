import type { ExternalDocs } from './document.ts';

/** Relative, so that a path before the document does no harm: the gateway serves the guides beside it. */
export function linkTo(guide: string, description: string): ExternalDocs {
  return { url: `guides/${guide}.md`, description };
}
