import { readFileSync } from 'node:fs';

import { parseAddressList } from '@pixmesh/kernel/address-list';
import { isPublicAddress } from '@pixmesh/kernel/ip-ranges';
import { answerInTurn, type DnsAnswer, startDnsServer } from '@pixmesh/testkit/dns-server';
import { buildConnector } from 'undici';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { answerWith, type Receiver, startReceiver } from '#test/start-receiver.ts';

import { parseDevReceivers } from './dev-receivers.ts';
import { createExchange, type ExchangeResult } from './exchange.ts';
import { createResolver } from './resolve-name.ts';

/** Short, so that a name server that never answers costs the suite little. */
const SILENT_TIMEOUT_MS = 400;
/** Of every other row: a busy machine is no failure. */
const TIMEOUT_MS = 10_000;
const OWN_ADDRESS = '8.8.4.4';

type Row = {
  id: string;
  url: string;
  at: 'write' | 'send';
  expect: 'accept' | 'refuse';
  why: string;
  setup?: {
    dns?: Record<string, DnsAnswer[]>;
    attempt?: number;
    response?: { status: number; headers: Record<string, string> };
  };
};

const file = new URL('../../../../packages/kernel/vectors/ssrf.json', import.meta.url);
const rows = JSON.parse(readFileSync(file, 'utf8')) as Row[];
const sendRows = rows.filter((row) => row.at === 'send');
const writeRows = rows.filter((row) => row.at === 'write');
const ROWS = 275;
const covered = new Set<string>();

let receiver: Receiver;
let response: { status: number; headers: Record<string, string> };

beforeAll(async () => {
  receiver = await startReceiver((request, reply) =>
    answerWith(response.status, response.headers)(request, reply),
  );
});

afterAll(() => receiver[Symbol.asyncDispose]());

describe.each(sendRows)('$id $url ($why)', (row) => {
  test(`is ${row.expect === 'accept' ? 'requested exactly once' : 'a failed attempt'}, and only public addresses are dialled`, async () => {
    const { result, dialled, requests } = await run(row);
    const isMapped = new URL(row.url).hostname.endsWith('.receiver.example.com');
    if (row.expect === 'accept') {
      expect(result).toMatchObject({ outcome: 'succeeded', error: null });
      expect(requests).toBe(1);
    } else {
      expect(result.outcome).toBe('failed');
      expect(result.error).toMatch(/^[a-z_]+: ./);
      // A redirect is answered to the one request of its attempt; nothing else is asked at all.
      expect(requests).toBe(row.setup?.response === undefined ? 0 : 1);
    }
    for (const address of dialled) {
      expect(isMapped ? address === '127.0.0.1' : isPublicAddress(address, 'send')).toBe(true);
    }
    if (isMapped) expect(dialled).toEqual(['127.0.0.1']);
    covered.add(row.id);
  });
});

describe('rows at write, of a URL that was stored under older rules', () => {
  test.each(writeRows)(
    '$id to $expect ($why): no other than a public address is dialled',
    async (row) => {
      const { result, dialled } = await run(row);
      if (row.expect === 'refuse') {
        expect(result).toMatchObject({ outcome: 'failed', reason: 'url_refused' });
        expect(dialled).toEqual([]);
      }
      const isMapped = row.url.includes('.receiver.example.com');
      expect(dialled.filter((address) => !isPublicAddress(address, 'send'))).toEqual(
        isMapped ? ['127.0.0.1'] : [],
      );
      covered.add(row.id);
    },
  );
});

test('every row of the list was run', () => {
  process.stdout.write(`ssrf.json: ${covered.size} of ${rows.length} rows\n`);
  expect([sendRows.length, writeRows.length]).toEqual([52, 223]);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(ROWS);
  expect(covered.size).toBe(ROWS);
});

/** Makes the attempts of a row; counts belong to the last one, which is the one that is meant. */
async function run(
  row: Row,
): Promise<{ result: ExchangeResult; dialled: string[]; requests: number }> {
  response = row.setup?.response ?? { status: 200, headers: {} };
  const dialled: string[] = [];
  await using dns = await startDnsServer(answerInTurn(scriptOf(row)));
  await using exchange = createExchange({
    timeoutMs: isSilent(row) ? SILENT_TIMEOUT_MS : TIMEOUT_MS,
    resolveName: createResolver([dns.address]),
    devReceivers: parseDevReceivers(`*.receiver.example.com=127.0.0.1:${receiver.port}`) ?? [],
    isForbiddenAddress: parseAddressList(OWN_ADDRESS) ?? (() => true),
    // Where a public address is dialled, the receiver stands in for it.
    openSocket: (timeout) => {
      const connect = buildConnector({ timeout });
      return (options, callback) => {
        dialled.push(options.hostname);
        connect({ ...options, hostname: '127.0.0.1', port: String(receiver.port) }, callback);
      };
    },
  });
  const post = () => exchange.post({ url: row.url, headers: {}, body: Buffer.from('{}') });
  for (let attempt = 1; attempt < (row.setup?.attempt ?? 1); attempt += 1) await post();
  const before = receiver.requests.length;
  dialled.length = 0;
  const result = await post();
  return { result, dialled, requests: receiver.requests.length - before };
}

function isSilent(row: Row): boolean {
  return Object.values(row.setup?.dns ?? {}).some((answers) => answers.includes('TIMEOUT'));
}

/** Names that a row does not mention are unknown, but for the one that every machine knows. */
function scriptOf(row: Row): Record<string, DnsAnswer[]> {
  const script = Object.entries(row.setup?.dns ?? {}).map(
    ([name, answers]): [string, DnsAnswer[]] => [
      name,
      answers.map((answer) => (typeof answer === 'string' ? answer : answer.map(ownAddress))),
    ],
  );
  return { localhost: [['A 127.0.0.1']], ...Object.fromEntries(script) };
}

function ownAddress(record: string): string {
  return record.startsWith('A <') ? `A ${OWN_ADDRESS}` : record;
}
