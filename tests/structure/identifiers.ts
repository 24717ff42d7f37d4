import { parseSync } from 'oxc-parser';

/** A name or a text of a log line, and where it stands. */
export type Found = { text: string; offset: number };

type Node = { type: string; start: number; [key: string]: unknown };

const LOG_LEVELS = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal']);

/** What a program names: identifiers, names of SQL statements and objects, and messages of log lines. */
export function listNames(file: string, source: string): Found[] {
  const { program } = parseSync(file, source);
  const found: Found[] = [];
  visit(program as unknown as Node, (node) => {
    for (const text of namesOf(node)) found.push({ text, offset: node.start });
  });
  return found;
}

/** The lower-case words of a name or text: `lookAtCharge`, `look_at` and `look at` begin alike. */
export function wordsOf(text: string): string[] {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase());
}

/** Identifiers of SQL, without its comments and literals. */
export function sqlNames(text: string): string[] {
  const code = text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, ' ');
  return code.match(/[a-z_][a-z0-9_]*/gi) ?? [];
}

function namesOf(node: Node): string[] {
  if (node.type === 'Identifier') return [node['name'] as string];
  if (node.type === 'TaggedTemplateExpression') return sqlOf(node);
  if (node.type === 'CallExpression') return textsOfCall(node);
  return [];
}

function sqlOf(node: Node): string[] {
  if ((node['tag'] as Node)['name'] !== 'sql') return [];
  const { quasis } = node['quasi'] as { quasis: { value: { raw: string } }[] };
  return quasis.flatMap(({ value }) => sqlNames(value.raw));
}

/** The name of a prepared statement, and what a log line says. */
function textsOfCall(node: Node): string[] {
  const callee = node['callee'] as Node;
  const args = node['arguments'] as Node[];
  const literals = args.filter((arg) => arg.type === 'Literal').map((arg) => arg['value']);
  const texts = literals.filter((value) => typeof value === 'string');
  if (callee.type === 'Identifier') return callee['name'] === 'named' ? texts.slice(0, 1) : [];
  if (callee.type !== 'MemberExpression') return [];
  const method = (callee['property'] as Node)['name'];
  return LOG_LEVELS.has(String(method)) ? texts.slice(-1) : [];
}

function visit(node: Node, see: (node: Node) => void): void {
  see(node);
  for (const value of Object.values(node)) {
    const children = Array.isArray(value) ? value : [value];
    for (const child of children) if (isNode(child)) visit(child, see);
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value;
}
