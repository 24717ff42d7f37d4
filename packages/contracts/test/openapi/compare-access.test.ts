import { describe, expect, test } from 'vitest';

import { buildPublicDocument } from '../../src/openapi/build-public-document.ts';
import type { OpenApiDocument, Operation } from '../../src/openapi/document.ts';
import { findBreakingChanges } from './find-breaking-changes.ts';
import { type Change, changesAfter, createCharge, type Loose } from './plant-change.ts';

describe('is refused within v1:', () => {
  test.each<[string, string, Change]>([
    [
      'another path of the server',
      'servers: / removed',
      (document) => {
        document.servers = [{ url: '/pix' }];
      },
    ],
    [
      'another server',
      'servers: / removed',
      (document) => {
        document.servers = [{ url: 'https://pix.example.com' }];
      },
    ],
    [
      'another header for the key',
      'GET /v1/balance: other credentials needed now',
      (document) => {
        document.components.securitySchemes.ApiKey.name = 'authorization';
      },
    ],
    [
      'the key in the query',
      'GET /v1/balance: other credentials needed now',
      (document) => {
        document.components.securitySchemes.ApiKey.in = 'query';
      },
    ],
    [
      'another scheme',
      'GET /v1/balance: other credentials needed now',
      (document) => {
        document.components.securitySchemes.ApiKey = { type: 'http', scheme: 'bearer' };
      },
    ],
    [
      'a scheme removed',
      'GET /v1/balance: other credentials needed now',
      (document) => {
        document.components.securitySchemes = {};
      },
    ],
    [
      'a second scheme beside the key',
      'GET /v1/balance: other credentials needed now',
      (document) => {
        document.components.securitySchemes.Signature = {
          type: 'apiKey',
          in: 'header',
          name: 'signature',
        };
        document.security = [{ ApiKey: [], Signature: [] }];
      },
    ],
    [
      'a scope of the scheme',
      'GET /v1/balance: other credentials needed now',
      (document) => {
        document.security = [{ ApiKey: ['balance:read'] }];
      },
    ],
    [
      'other credentials of one operation',
      'POST /v1/charges: other credentials needed now',
      (document) => {
        document.components.securitySchemes.Token = { type: 'http', scheme: 'bearer' };
        (createCharge(document) as Loose).security = [{ Token: [] }];
      },
    ],
  ])('%s', (_name, fault, change) => {
    expect(changesAfter(change)).toContainEqual(fault);
  });
});

describe('is allowed within v1:', () => {
  test.each<[string, Change]>([
    [
      'a server more, and the same one written otherwise',
      (document) => {
        document.servers = [{ url: 'https://pix.example.com' }, { url: '/', description: 'Here' }];
      },
    ],
    [
      'a server that is the default',
      (document) => {
        delete document.servers;
      },
    ],
    [
      'a second way to be let in',
      (document) => {
        document.components.securitySchemes.Token = { type: 'http', scheme: 'bearer' };
        document.security = [{ Token: [] }, { ApiKey: [] }];
      },
    ],
    [
      'an operation that needs no key any more',
      (document) => {
        document.paths['/v1/webhooks/events'].get.security = [];
      },
    ],
    [
      'the same scheme under another name, in other words',
      (document) => {
        const { ApiKey } = document.components.securitySchemes;
        document.components.securitySchemes = {
          Key: { ...ApiKey, name: 'X-API-Key', description: 'Other words.' },
        };
        document.security = [{ Key: [] }];
      },
    ],
  ])('%s', (_name, change) => {
    expect(changesAfter(change)).toEqual([]);
  });
});

test('credentials where none were needed are refused', () => {
  const before = buildPublicDocument();
  before.paths['/v1/webhooks/events'] = { get: { ...listEvents(before), security: [] } };
  expect(findBreakingChanges(before, buildPublicDocument())).toEqual([
    'GET /v1/webhooks/events: other credentials needed now',
  ]);
});

test('a way to be let in that is gone is refused, whatever other ways are left', () => {
  const before = buildPublicDocument();
  before.components.securitySchemes['Token'] = { type: 'http', scheme: 'Bearer' };
  before.security = [{ ApiKey: [] }, { Token: [] }];
  expect(findBreakingChanges(before, buildPublicDocument())).toContain(
    'GET /v1/account: other credentials needed now',
  );
  const after = structuredClone(before);
  after.components.securitySchemes['Token'] = { type: 'http', scheme: 'bearer' };
  expect(findBreakingChanges(before, after)).toEqual([]);
});

function listEvents({ paths }: OpenApiDocument): Operation {
  const operation = paths['/v1/webhooks/events']?.get;
  if (operation === undefined) throw new Error('the catalog is not in the document');
  return operation;
}
