import { expect, test } from 'vitest';

import { stack } from './mesh.ts';

const READ_ONLY = 'apicurio.storage.read-only.enabled';

/** A subject is written by the deploy job, a setting by none. */
const WRITES: readonly (readonly [string, string, object, number])[] = [
  ['PUT', '/apis/ccompat/v7/config', { compatibility: 'NONE' }, 409],
  [
    'POST',
    '/apis/ccompat/v7/subjects/ledger.commands.v1-received_pix.credit/versions',
    { schemaType: 'JSON', schema: JSON.stringify({ $id: 'any', type: 'object', properties: {} }) },
    409,
  ],
  ['PUT', `/apis/registry/v3/admin/config/properties/${READ_ONLY}`, { value: 'false' }, 404],
];

test.each(WRITES)('once the mesh is up the schema registry takes no %s %s', async (...write) => {
  const [method, path, body, status] = write;
  const answer = await fetch(stack().registry_url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect([answer.status, await answer.text()]).toEqual([status, expect.any(String)]);
});

test('it shows the schemas that the deploy job has registered', async () => {
  const answer = await fetch(`${stack().registry_url}/apis/ccompat/v7/subjects`);
  expect(await answer.json()).toContain('ledger.commands.v1-received_pix.credit');
});
