import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { encodeReply, readQuestion } from './dns-messages.ts';

/**
 * What a name answers: records as `A 1.1.1.1`, `AAAA ::1` or `CNAME other.example.net`, an error, or silence.
 * An alias brings the records of its target along, as a resolving name server would.
 */
export type DnsAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'TIMEOUT';
export type DnsQuestion = { name: string; type: 'A' | 'AAAA' };

export type DnsServer = AsyncDisposable & {
  /** As a resolver takes it: `127.0.0.1:53`. */
  readonly address: string;
  /** In the order in which they came, repeats and those over TCP included. */
  readonly questions: readonly DnsQuestion[];
};

const ALIASES_MAX = 8;
/** What does not fit is asked for again over TCP. */
const UDP_BYTES_MAX = 512;

/** Gives each name its answers one after another, by type of question, the last one for ever. */
export function answerInTurn(
  script: Readonly<Record<string, readonly DnsAnswer[]>>,
): (question: DnsQuestion) => DnsAnswer {
  const asked = new Map<string, number>();
  return ({ name, type }) => {
    const answers = script[name] ?? [];
    const turn = asked.get(`${name} ${type}`) ?? 0;
    asked.set(`${name} ${type}`, turn + 1);
    return answers[Math.min(turn, answers.length - 1)] ?? 'NXDOMAIN';
  };
}

/** A name server on loopback, over UDP and TCP, that may change its mind with every question. */
export async function startDnsServer(
  answer: (question: DnsQuestion) => DnsAnswer,
): Promise<DnsServer> {
  const questions: DnsQuestion[] = [];
  const sockets = new Set<Socket>();
  const tcp = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => undefined));
    serveTcp(socket, (query) => reply(query));
  }).listen(0, '127.0.0.1');
  await once(tcp, 'listening');
  const { port } = tcp.address() as AddressInfo;
  const udp = createSocket('udp4').bind(port, '127.0.0.1');
  await once(udp, 'listening');
  udp.on('message', (query, from) => {
    const answered = reply(query, UDP_BYTES_MAX);
    if (answered !== null) udp.send(answered, from.port, from.address);
  });
  return {
    address: `127.0.0.1:${port}`,
    questions,
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      udp.close();
      await new Promise((resolve) => tcp.close(resolve));
    },
  };

  function reply(query: Buffer, bytesMax?: number): Buffer | null {
    const question = readQuestion(query);
    questions.push(question);
    const answered = answerWithAliases(answer, question);
    return answered === 'TIMEOUT' ? null : encodeReply(query, answered, bytesMax);
  }
}

type NamedRecord = { owner: string; kind: string; value: string };

function answerWithAliases(
  answer: (question: DnsQuestion) => DnsAnswer,
  question: DnsQuestion,
): readonly NamedRecord[] | Extract<DnsAnswer, string> {
  const records: NamedRecord[] = [];
  let owner = question.name;
  for (let hop = 0; hop < ALIASES_MAX; hop += 1) {
    const answered = answer({ ...question, name: owner });
    if (typeof answered === 'string') return records.length === 0 ? answered : records;
    const parsed = answered.map((text) => parseRecord(owner, text));
    records.push(...parsed.filter(({ kind }) => kind === question.type || kind === 'CNAME'));
    const alias = parsed.find(({ kind }) => kind === 'CNAME');
    if (alias === undefined) break;
    owner = alias.value;
  }
  return records;
}

function parseRecord(owner: string, text: string): NamedRecord {
  const [kind = '', value = ''] = text.split(' ');
  return { owner, kind, value: value.replace(/\.$/, '') };
}

/** Each message stands behind its length in two bytes (RFC 1035, 4.2.2). */
function serveTcp(socket: Socket, reply: (query: Buffer) => Buffer | null): void {
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
      const end = 2 + received.readUInt16BE(0);
      const answered = reply(received.subarray(2, end));
      received = received.subarray(end);
      if (answered === null) continue;
      const length = Buffer.alloc(2);
      length.writeUInt16BE(answered.length);
      socket.write(Buffer.concat([length, answered]));
    }
  });
}
