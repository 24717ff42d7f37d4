import { startDnsServer } from '@pixmesh/testkit/dns-server';
import { expect, test } from 'vitest';

import { createResolver } from './resolve-name.ts';

test('a name server that never answers AAAA is not waited for: the look-up ends before the question is repeated', async () => {
  await using server = await startDnsServer(({ type }) =>
    type === 'A' ? ['A 1.1.1.1'] : 'TIMEOUT',
  );
  expect(await createResolver([server.address])('shop.example.net')).toEqual(['1.1.1.1']);
  expect(server.questions.map(({ type }) => type).toSorted()).toEqual(['A', 'AAAA']);
});

test('the addresses of a name are those of both families', async () => {
  await using server = await startDnsServer(() => ['A 1.1.1.1', 'AAAA 2606:4700::1111']);
  expect(await createResolver([server.address])('shop.example.net')).toEqual([
    '1.1.1.1',
    '2606:4700::1111',
  ]);
});

test('a name with IPv6 addresses alone has those', async () => {
  await using server = await startDnsServer(() => ['AAAA 2606:4700::1111']);
  expect(await createResolver([server.address])('shop.example.net')).toEqual(['2606:4700::1111']);
});
