import { loadSettings } from '@pixmesh/service/load-settings';
import { MESH_SERVICES, MESH_SLOTS } from '@pixmesh/local-stack/mesh/mesh-services';
import { INFRA_SLOTS } from '@pixmesh/local-stack/infra/infra-slots';
import { OBSERVE_SLOTS } from '@pixmesh/local-stack/observe/observe-slots';
import { portVariable } from '@pixmesh/local-stack/ports/fixed-ports';
import { expect, test } from 'vitest';

import { listFiles, readRepositoryFile as read } from './repository-files.ts';

/** Documents and schemas of settings name the same, and what is named is read. */
const SHAPES = new Map(
  await Promise.all(
    MESH_SERVICES.map(async ({ name }) => [name, (await loadSettings(name)).shape] as const),
  ),
);
const SCHEMAS = new Map([...SHAPES].map(([name, shape]) => [name, Object.keys(shape)]));
const ALL_SETTINGS = new Set([...SCHEMAS.values()].flat());

/** Shared schemas, each documented by its package. */
const SHARED = ['service', 'reconciliation', 'acquirer'].map(
  (name) => `packages/${name}/README.md`,
);
/** Of telemetry, which begins before any schema is read. */
const BEFORE_SCHEMAS = ['SERVICE_NAME', 'OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG'];

const NAME = /`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|HOST|PORT|ROLES)`/g;

function namesIn(text: string): string[] {
  return [...text.matchAll(NAME)].map(([, name = '']) => name.replace(/_FILE$/, ''));
}

function configurationOf(readme: string): string {
  const [, section = ''] = /## Configuration\n(.*?)\n## /s.exec(read(readme)) ?? [];
  if (section === '') throw new Error(`${readme} has no section of its configuration`);
  return section;
}

test.each([...SCHEMAS])(
  'the README of %s names its settings, and no other',
  (service, settings) => {
    const own = namesIn(configurationOf(`services/${service}/README.md`));
    expect(
      own.filter((name) => !settings.includes(name) && !BEFORE_SCHEMAS.includes(name)),
    ).toEqual([]);
    const documented = new Set([
      ...own,
      ...SHARED.flatMap((file) => namesIn(configurationOf(file))),
    ]);
    expect(settings.filter((name) => !documented.has(name))).toEqual([]);
  },
);

/** What code outside of the services reads by its name. */
function readElsewhere(): string[] {
  const sources = listFiles('{packages,deploy,tests}/**/*.ts').map(read).join('\n');
  const named = [...sources.matchAll(/env(?:ironment)?\['([A-Z_]+)'\]/g)].map(
    ([, name = '']) => name,
  );
  const ports = [...INFRA_SLOTS, ...MESH_SLOTS, 'control', ...OBSERVE_SLOTS].map(portVariable);
  return [...named, ...ports, ...BEFORE_SCHEMAS];
}

test('each variable in a table of a guide or README is one that something reads', () => {
  const known = new Set([...ALL_SETTINGS, ...readElsewhere()]);
  const files = ['README.md', 'deploy/README.md', 'packages/local-stack/README.md'].concat(
    SHARED,
    listFiles('docs/guides/*.md'),
  );
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/^\| (Variable|Setting) \|.*\n(?:\|.*\n)+/gm)].flatMap(([table]) =>
      table.split('\n').flatMap((row) => namesIn(row.split(' | ')[0] ?? '')),
    ),
  );
  expect(named).toContain('RATE_LIMIT_PER_KEY');
  expect(named.filter((name) => !known.has(name))).toEqual([]);
});

/** A name as code reads it: a property, one of a destructuring, or a template of names. */
function isRead(name: string, source: string): boolean {
  if (new RegExp(String.raw`(\.|\[')${name}\b|\{[^{}]*\b${name}\b[^{}]*\} = `).test(source))
    return true;
  const templates = [...source.matchAll(/\[`([A-Z_]+)\$\{\w+\}([A-Z_]+)`\]/g)];
  return templates.some(([, start = '', end = '']) =>
    new RegExp(`^${start}[A-Z]+${end}$`).test(name),
  );
}

test.each([...SCHEMAS])('each setting of %s is read by its code', (service, settings) => {
  const files = listFiles(`{services/${service}/src,packages/*/src}/**/*.ts`);
  const source = files
    .filter((file) => !file.endsWith('.test.ts'))
    .map(read)
    .join('\n');
  expect(settings.filter((name) => !isRead(name, source))).toEqual([]);
});

/** A setting's own schema. */
type Field = { safeParse(text: unknown): { data?: unknown }; parse(text: unknown): unknown };

test.each([...SHAPES])(
  'each number that is given to %s replaces its default',
  (_service, shape) => {
    const defaults = Object.entries(shape).flatMap(([name, field]) => {
      const { data } = (field as Field).safeParse(undefined);
      return typeof data === 'number' ? [[name, field as Field, data] as const] : [];
    });
    for (const [name, field, value] of defaults) {
      expect([name, field.parse(String(value + 1))]).toEqual([name, value + 1]);
    }
  },
);
