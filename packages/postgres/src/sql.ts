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

/** The texts of the statements that are spliced in, in their places; null for a bound value. */
type Parts = readonly (readonly string[] | null)[];

/** Of each template what it last came to: most come to the same each time, and some texts are long. */
const spliced = new WeakMap<TemplateStringsArray, { parts: Parts; pieces: readonly string[] }>();
/** The text of those pieces. */
const rendered = new WeakMap<readonly string[], { name: string | undefined; text: string }>();

/**
 * Builds a statement. Every interpolation becomes a bound parameter; another `Statement` is spliced in.
 * Identifiers cannot be interpolated: they are written out.
 */
export function sql(strings: TemplateStringsArray, ...values: unknown[]): Statement {
  if (!values.some(isStatement)) return { [BUILT]: true, strings, values };
  const bound = values.flatMap((value) => (isStatement(value) ? value.values : [value]));
  return { [BUILT]: true, strings: piecesOf(strings, values), values: bound };
}

function piecesOf(strings: TemplateStringsArray, values: readonly unknown[]): readonly string[] {
  const parts = values.map((value) => (isStatement(value) ? value.strings : null));
  const last = spliced.get(strings);
  if (last && parts.every((part, index) => part === last.parts[index])) return last.pieces;
  const pieces = splice(strings, parts);
  spliced.set(strings, { parts, pieces });
  return pieces;
}

function splice(strings: readonly string[], parts: Parts): readonly string[] {
  const pieces = [strings[0] ?? ''];
  for (const [index, part] of parts.entries()) {
    const next = strings[index + 1] ?? '';
    if (part === null) {
      pieces.push(next);
      continue;
    }
    const [first = '', ...rest] = part;
    pieces[pieces.length - 1] += first;
    pieces.push(...rest);
    pieces[pieces.length - 1] += next;
  }
  return pieces;
}

/** Gives a statement its stable name; one name always stands for one text. */
export function named(name: string, statement: Statement): Statement {
  return { ...statement, name };
}

/** The form that `pg` takes: numbered placeholders, a leading comment, a prepared name. */
export function render(statement: Statement): { name?: string; text: string; values: unknown[] } {
  const { name } = statement;
  const text = textOf(statement);
  const values = [...statement.values];
  return name === undefined ? { text, values } : { name, text, values };
}

function textOf({ name, strings }: Statement): string {
  const last = rendered.get(strings);
  if (last && last.name === name) return last.text;
  const bare = strings.reduce((sofar, piece, index) => `${sofar}$${index}${piece}`);
  const text = name === undefined ? bare : `/* ${name} */ ${bare}`;
  rendered.set(strings, { name, text });
  return text;
}

function isStatement(value: unknown): value is Statement {
  return typeof value === 'object' && value !== null && BUILT in value;
}
