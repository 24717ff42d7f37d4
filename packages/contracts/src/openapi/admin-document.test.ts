import { readFileSync, writeFileSync } from 'node:fs';

import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';

import type { AdminRoute } from '../admin/admin-route.ts';
import { ADMIN_ROUTES } from '../admin/admin-routes.ts';
import { buildAdminDocument } from './build-admin-document.ts';
import { toTemplate } from './build-operation.ts';

const GOLDEN = new URL('../../../../docs/openapi/admin.json', import.meta.url);

const document = buildAdminDocument();

test('is OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(document));
  expect(result).toMatchObject({ valid: true });
});

test('stands in git as it is served (UPDATE_GOLDEN=1 refreshes it)', () => {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(GOLDEN, text);
  expect(readFileSync(GOLDEN, 'utf8')).toBe(text);
});

test('describes every route of the table once, with a status and a schema for whatever it answers', () => {
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => [
      `${method.toUpperCase()} ${path}`,
      operation.operationId,
      Object.hasOwn(operation.responses, '401'),
    ]),
  );
  const table = Object.entries<AdminRoute>(ADMIN_ROUTES).map(([id, { method, path }]) => [
    `${method} ${toTemplate(path)}`,
    id,
    true,
  ]);
  expect(described.toSorted()).toEqual(table.toSorted());
});

test('an Idempotency-Key may be left out, but not where money goes back', () => {
  const required = Object.values(document.paths)
    .flatMap((item) => Object.values(item))
    .flatMap(({ operationId, parameters = [] }) =>
      parameters
        .filter(({ name }) => name === 'Idempotency-Key')
        .map((key) => [operationId, key.required]),
    );
  expect(Object.fromEntries(required)).toEqual({
    createApplication: false,
    createKey: false,
    createRecovery: false,
    createRefund: true,
    requestCharge: false,
    requestPayout: false,
    sendDisputeMessage: false,
  });
});
