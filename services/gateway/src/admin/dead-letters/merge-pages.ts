/** One service's page, newest first, each letter with its `service`. */
export type DeadLetterPage = { letters: { id: string; service: string }[]; hasMore: boolean };

/**
 * Joins pages that were read with the same cursor. Ids are UUIDv7 everywhere, so their order is the order of
 * time, and the last id of the joined page is a cursor that every service understands.
 */
export function mergePages(pages: readonly DeadLetterPage[], limit: number): object {
  const letters = pages
    .flatMap((page) => page.letters)
    .sort((left, right) => (left.id < right.id ? 1 : -1));
  return {
    object: 'list',
    data: letters.slice(0, limit),
    has_more: letters.length > limit || pages.some((page) => page.hasMore),
  };
}
