/** Marks what `sql` has built. No parsed JSON can carry it, so no input can pass for a piece of SQL. */
const BUILT = Symbol('statement built by sql');

/** A statement or a fragment of one: text pieces with a bound value between each two. */
export type Statement = {
  readonly [BUILT]: true;
  readonly strings: readonly string[];
  readonly values: readonly unknown[];
  /** Prepared-statement name, span name and comment at once; set by `named`. */
  readonly name?: string;
};

/**
 * Builds a statement. Every interpolation becomes a bound parameter; another `Statement` is spliced in.
 * Identifiers cannot be interpolated: they are written out.
 */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  const pieces = [strings[0] ?? ''];
  const bound: unknown[] = [];
  for (const [index, value] of values.entries()) {
    const next = strings[index + 1] ?? '';
    if (!isStatement(value)) {
      bound.push(value);
      pieces.push(next);
      continue;
    }
    const [first = '', ...rest] = value.strings;
    pieces[pieces.length - 1] += first;
    pieces.push(...rest);
    bound.push(...value.values);
    pieces[pieces.length - 1] += next;
  }
  return { [BUILT]: true, strings: pieces, values: bound };
}

/** Gives a statement its stable name; one name always stands for one text. */
export function named(name: string, statement: Statement): Statement {
  return { ...statement, name };
}

/** The form that `pg` takes: numbered placeholders, a leading comment, a prepared name. */
export function render(statement: Statement): { name?: string; text: string; values: unknown[] } {
  const text = statement.strings.reduce((sofar, piece, index) => `${sofar}$${index}${piece}`);
  const values = [...statement.values];
  if (statement.name === undefined) return { text, values };
  return { name: statement.name, text: `/* ${statement.name} */ ${text}`, values };
}

function isStatement(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && BUILT in value;
}
