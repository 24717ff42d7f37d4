import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ERROR_STATUS, type PublicErrorCode } from '@pixmesh/contracts/http/error-body';
import { PUBLIC_ROUTES } from '@pixmesh/contracts/http/public-routes';
import { describe, expect, test } from 'vitest';

import { toOutputPattern } from './guides/match-output.ts';
import { findBlockFaults, listGuides, readGuide, readSamples } from './guides/read-samples.ts';
import { findMissingPrograms, runProgram } from './guides/run-sample.ts';

/** Codes that the gateway may answer on any path of `/v1`, beside those of the route. */
const ANYWHERE: readonly PublicErrorCode[] = [
  'UNAUTHORIZED',
  'INSUFFICIENT_SCOPE',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
];

/** The specification's own codes; every other one is an addition of ours (decision 222). */
const SPECIFIED: ReadonlySet<PublicErrorCode> = new Set([
  'UNAUTHORIZED',
  'INSUFFICIENT_SCOPE',
  'IDEMPOTENCY_KEY_REQUIRED',
  'VALIDATION_ERROR',
  'INVALID_DOCUMENT',
  'METHOD_NOT_SUPPORTED',
  'AMOUNT_BELOW_MINIMUM',
  'INSUFFICIENT_BALANCE',
  'PAYOUTS_DISABLED',
  'CHARGE_NOT_FOUND',
  'PAYOUT_NOT_FOUND',
  'WEBHOOK_NOT_FOUND',
  'INVALID_WEBHOOK_URL',
  'ACQUIRER_REJECTED',
  'INTERNAL_ERROR',
]);

const merchantCodes = new Set<PublicErrorCode>([
  ...ANYWHERE,
  ...Object.values(PUBLIC_ROUTES).flatMap((route) => route.errors),
]);

describe('guides for merchants', () => {
  test.each(listGuides())(
    '%s: every block of code is a sample, and every output has one',
    (guide) => {
      expect(findBlockFaults(guide)).toEqual([]);
    },
  );

  test.each(listGuides())('%s begins with what its reader can do afterwards', (guide) => {
    expect(readGuide(guide)).toMatch(/^# .+\n\nAfter this guide /);
  });

  test.each(listGuides())('%s is listed in the index of the documents', (guide) => {
    const index = readFileSync(new URL('../docs/README.md', import.meta.url), 'utf8');
    expect(index).toContain(`(guides/merchants/${guide}.md)`);
  });

  test('errors lists every code of the public routes with its status, and no other', () => {
    const rows = readGuide('errors').matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \| .+ \| .+ \|$/gm);
    const listed = [...rows].map(([, code, status]) => `${code} ${status}`);
    const expected = [...merchantCodes].map((code) => `${code} ${ERROR_STATUS[code]}`);
    expect(listed.toSorted()).toEqual(expected.toSorted());
  });

  test('versioning names every code that the specification does not have', () => {
    const row = /^\| error codes \| (`.+) \|$/m.exec(readGuide('versioning'))?.[1] ?? '';
    const named = [...row.matchAll(/`([A-Z_]+)`/g)].map(([, code]) => code);
    const added = [...merchantCodes].filter((code) => !SPECIFIED.has(code));
    expect(named.toSorted()).toEqual(added.toSorted());
  });
});

test.each(['create-with-retries.mjs', 'create_with_retries.py'])(
  '%s repeats after an answer that is cut off and after one that is no JSON',
  async (name) => {
    const sample = readSamples('retry-safely').find((one) => one.name === name);
    assert(sample);
    await using server = await startFaultyServer();
    const run = await runProgram(sample, { BASE_URL: server.url, API_KEY: 'a key' });
    expect(run).toEqual({
      stdout: 'attempt 1: no answer\nattempt 2: no answer\nattempt 3: 201\none charge, pending\n',
      stderr: '',
      code: 0,
    });
  },
);

describe('what makes a block a sample', () => {
  test('code without a mark, in a language that is not run, or named twice is a fault', () => {
    const markdown = [
      fence('js', 'run()'),
      fence('go sample=a', 'run()'),
      fence('py sample=b', 'run()'),
      fence('sh sample=b', 'run'),
      fence('text output=c', 'printed'),
      fence('text', 'a listing'),
    ].join('\n');
    expect(findBlockFaults('example', markdown)).toEqual([
      'example.md:1: a block of js is no sample',
      "example.md:5: the language 'go' is neither a sample nor text",
      'example.md:9: b is used twice',
      'example.md:13: b is used twice',
      'example.md:17: output of an unknown sample c',
    ]);
  });

  test('a sample has the output that bears its name, or none', () => {
    const markdown = [
      fence('sh sample=a', 'echo a'),
      fence('text output=a', 'a'),
      fence('sh sample=b', ':'),
    ].join('\n');
    expect(readSamples('example', markdown).map(({ name, output }) => [name, output])).toEqual([
      ['a', 'a\n'],
      ['b', null],
    ]);
  });

  test('an ellipsis stands for text within a line, and alone for lines', () => {
    expect(toOutputPattern('{"id":"…","a":1}').test('{"id":"x.y","a":1}')).toBe(true);
    expect(toOutputPattern('{"id":"…","a":1}').test('{"id":"x",\n"a":1}')).toBe(false);
    expect(toOutputPattern('a\n…\nb').test('a\nx\ny\nb')).toBe(true);
    expect(toOutputPattern('a\n…\nb').test('a\nb')).toBe(true);
    expect(toOutputPattern('a\nb').test('a\nx\nb')).toBe(false);
    expect(toOutputPattern('a\n').test('a\nb')).toBe(false);
  });
});

test('a machine without the programs of the samples is told which ones to install', () => {
  expect(findMissingPrograms('/nowhere')).toEqual([
    'bash is not on the PATH: install it to run the samples of the guides',
    'curl is not on the PATH: install it to run the samples of the guides',
    'python3 is not on the PATH: install it to run the samples of the guides',
  ]);
});

/** Cuts its first answer off, answers the second time as a proxy does, and then creates. */
async function startFaultyServer(): Promise<AsyncDisposable & { url: string }> {
  const answers = [answerCut, answerAsProxy, answerCreated];
  const server: Server = createServer((request, response) => {
    request.resume().once('end', () => answers.shift()?.(response));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

function answerCut(response: ServerResponse): void {
  response.writeHead(201, { 'content-length': 1_000 });
  response.write('{', () => response.socket?.end());
}

function answerAsProxy(response: ServerResponse): void {
  response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
}

function answerCreated(response: ServerResponse): void {
  response.writeHead(201).end('{"status":"pending"}');
}

function fence(info: string, text: string): string {
  return `\`\`\`${info}\n${text}\n\`\`\`\n`;
}
