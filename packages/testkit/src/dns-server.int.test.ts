import { promises as dns } from 'node:dns';

import { expect, test } from 'vitest';

import { answerInTurn, startDnsServer } from './dns-server.ts';

test('a resolver gets addresses, aliases, errors and silence as they are scripted', async () => {
  await using server = await startDnsServer(
    answerInTurn({
      'both.example.net': [['A 1.1.1.1', 'AAAA 2606:4700::1111', 'AAAA ::ffff:127.0.0.1']],
      'alias.example.net': [['CNAME both.example.net.']],
      'turns.example.net': [['A 1.1.1.1'], ['A 127.0.0.1']],
      'broken.example.net': ['SERVFAIL'],
      'silent.example.net': ['TIMEOUT'],
      'empty.example.net': [[]],
    }),
  );
  const resolver = new dns.Resolver({ timeout: 5_000, tries: 1 });
  const hasty = new dns.Resolver({ timeout: 100, tries: 1 });
  for (const one of [resolver, hasty]) one.setServers([server.address]);
  expect(await resolver.resolve4('both.example.net')).toEqual(['1.1.1.1']);
  expect(await resolver.resolve6('alias.example.net')).toEqual([
    '2606:4700::1111',
    '::ffff:127.0.0.1',
  ]);
  expect(await resolver.resolve4('turns.example.net')).toEqual(['1.1.1.1']);
  expect(await resolver.resolve4('Turns.Example.NET')).toEqual(['127.0.0.1']);
  expect(await resolver.resolve4('turns.example.net')).toEqual(['127.0.0.1']);
  const codes = ['broken', 'silent', 'empty', 'unknown'].map((name) =>
    (name === 'silent' ? hasty : resolver)
      .resolve4(`${name}.example.net`)
      .catch(({ code }: { code: string }) => code),
  );
  expect(await Promise.all(codes)).toEqual(['ESERVFAIL', 'ETIMEOUT', 'ENODATA', 'ENOTFOUND']);
});

test('an answer that is too long for UDP comes over TCP', async () => {
  const records = Array.from({ length: 100 }, (_, index) => `A 1.1.1.${index}`);
  await using server = await startDnsServer(() => records);
  const resolver = new dns.Resolver({ timeout: 1_000, tries: 1 });
  resolver.setServers([server.address]);
  expect(await resolver.resolve4('many.example.net')).toHaveLength(100);
  expect(server.questions).toHaveLength(2);
});
