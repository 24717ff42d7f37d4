import { parsedText } from '@pixmesh/contracts/http/text-field';
import { parseId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

import { invalidRequest } from './refusal.ts';
import { parseShape } from './json-request.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;
const LIMIT_EXPECTED = `expected an integer from 1 to ${LIMIT_MAX}`;

/** The same for what is no id, for an unknown and for a foreign one (decision 93). */
export const CURSOR_EXPECTED = 'the id of an item of this list';

const PageQuery = z.object({
  limit: z
    .string({ error: LIMIT_EXPECTED })
    .regex(/^\d{1,3}$/, { error: LIMIT_EXPECTED })
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= LIMIT_MAX, { error: LIMIT_EXPECTED })
    .default(LIMIT_DEFAULT),
  starting_after: parsedText(parseId, `expected ${CURSOR_EXPECTED}`).nullable().default(null),
});

type Page<Filters> = { limit: number; startingAfter: string | null; filters: Filters };

/** What is asked of a list, by the schema of its filters. */
export type PageFor<Schema extends z.ZodType> = Page<z.output<Schema>>;

/**
 * Reads paging and filters of a list. Unknown parameters are ignored; repeated ones and array syntax are
 * faults of the parameter they name (decisions 5, 6, 248).
 * @throws AppError `VALIDATION_ERROR`
 */
export function readListQuery<Shape extends z.ZodRawShape>(
  filters: z.ZodObject<Shape>,
  query: unknown,
): PageFor<z.ZodObject<Shape>> {
  const plain = foldArraySyntax(query as Record<string, unknown>);
  const { page, chosen } = parseShape(
    z.object({ page: PageQuery, chosen: filters }),
    { page: plain, chosen: plain },
    (path) => path.slice(1),
  );
  return { limit: page.limit, startingAfter: page.starting_after, filters: chosen };
}

type ListSteps<Row> = {
  page: { limit: number; startingAfter: string | null };
  /** Fetches up to `limit` rows after the cursor, newest first. */
  fetch(limit: number): Promise<Row[]>;
  /** Whether the cursor names an item of this very list. */
  cursorExists(id: string): Promise<boolean>;
  toResource(row: Row): object;
  /** Whether there is room in the answer for a row behind those before it, where rows may be large. */
  fits?(row: Row): boolean;
};

/**
 * The list envelope. One row more than asked for, or one that does not fit, tells whether there are more. Only an
 * empty page can hide an unknown cursor, so only then it is looked up (decision 93).
 * @throws AppError `VALIDATION_ERROR` for an unknown or foreign cursor
 */
export async function answerList<Row>(steps: ListSteps<Row>): Promise<object> {
  const { limit, startingAfter } = steps.page;
  const rows = await steps.fetch(limit + 1);
  if (rows.length === 0 && startingAfter !== null && !(await steps.cursorExists(startingAfter))) {
    throw invalidRequest({ name: 'starting_after', expected: CURSOR_EXPECTED });
  }
  const page = takeWhile(rows.slice(0, limit), (row) => steps.fits?.(row) ?? true);
  return {
    object: 'list',
    data: page.map((row) => steps.toResource(row)),
    has_more: rows.length > page.length,
  };
}

function takeWhile<Row>(rows: readonly Row[], isSo: (row: Row) => boolean): Row[] {
  const end = rows.findIndex((row) => !isSo(row));
  return rows.slice(0, end === -1 ? rows.length : end);
}

/** `limit[]=1` becomes a `limit` that no schema takes. */
function foldArraySyntax(query: Record<string, unknown>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(query)) {
    const bracket = name.indexOf('[');
    if (bracket === -1) plain[name] ??= value;
    else plain[name.slice(0, bracket)] = [];
  }
  return plain;
}
