import { readFileSync } from 'node:fs';

const CONSTRAINT = /^ +constraint (\w+) CHECK (.+)$/gm;
const WORD = /'([a-z_]+)'::text/g;
const ENUM = /^create type (\w+) as enum \((.+)\);$/gm;

/**
 * The words that the tables of a service accept, by constraint or enum: read from its golden `schema.sql`, which equals
 * the sum of its migrations.
 */
export function readStoredStates(schemaUrl: URL): Record<string, string[]> {
  const schema = readFileSync(schemaUrl, 'utf8');
  const states: Record<string, string[]> = {};
  for (const [, name = '', values = ''] of schema.matchAll(ENUM)) {
    states[name] = values.split(', ').map((value) => value.slice(1, -1));
  }
  for (const [, name = '', condition = ''] of schema.matchAll(CONSTRAINT)) {
    const words = [...condition.matchAll(WORD)].map(([, word = '']) => word);
    if (words.length > 0) states[name] = [...new Set(words)];
  }
  return states;
}
