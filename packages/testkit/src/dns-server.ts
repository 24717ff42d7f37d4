import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

import packet, { type Answer, type StringAnswer } from 'dns-packet';

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
const FLAGS_ANSWER = packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE;
const ERROR_CODES = { SERVFAIL: 2, NXDOMAIN: 3 } as const;
/** What does not fit is asked for again over TCP. */
const UDP_BYTES_MAX = 512;
const BIND_TRIES_MAX = 10;

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
  });
  const { port, udp } = await bindBoth(tcp);
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

  function reply(query: Buffer, bytesMax = Number.POSITIVE_INFINITY): Buffer | null {
    const { id = 0, questions: asked = [] } = packet.decode(query);
    const [{ name, type } = { name: '', type: 'A' }] = asked;
    // Resolvers mix the case of a name to foil forgers.
    const question: DnsQuestion = { name: name.toLowerCase(), type: type === 'AAAA' ? type : 'A' };
    questions.push(question);
    const answered = answerWithAliases(answer, question);
    if (answered === 'TIMEOUT') return null;
    const encode = (flags: number, answers: Answer[]) =>
      packet.encode({
        type: 'response',
        id,
        flags: FLAGS_ANSWER | flags,
        questions: asked,
        answers,
      });
    if (typeof answered === 'string') return encode(ERROR_CODES[answered], []);
    const whole = encode(0, answered);
    // Only the mark that there would be more.
    return whole.length <= bytesMax ? whole : encode(packet.TRUNCATED_RESPONSE, []);
  }
}

/** Both listen on one port: one that is free for TCP may be taken for UDP, by anybody's question to a name server. */
async function bindBoth(tcp: Server): Promise<{ port: number; udp: UdpSocket }> {
  for (let tries = 1; ; tries += 1) {
    tcp.listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    const udp = createSocket('udp4').bind(port, '127.0.0.1');
    try {
      await once(udp, 'listening');
      return { port, udp };
    } catch (error) {
      udp.close();
      await new Promise((resolve) => tcp.close(resolve));
      if (tries === BIND_TRIES_MAX) throw error;
    }
  }
}

function answerWithAliases(
  answer: (question: DnsQuestion) => DnsAnswer,
  question: DnsQuestion,
): Answer[] | Extract<DnsAnswer, string> {
  const records: StringAnswer[] = [];
  let name = question.name;
  for (let hop = 0; hop < ALIASES_MAX; hop += 1) {
    const answered = answer({ ...question, name });
    if (typeof answered === 'string') return records.length === 0 ? answered : records;
    const parsed = answered.map((text) => parseRecord(name, text));
    records.push(...parsed.filter(({ type }) => type === question.type || type === 'CNAME'));
    const alias = parsed.find(({ type }) => type === 'CNAME');
    if (alias === undefined) break;
    name = alias.data;
  }
  return records;
}

/** With a time to live of 0: no answer may outlive its question. */
function parseRecord(name: string, text: string): StringAnswer {
  const [type, data = ''] = text.split(' ');
  return { name, type: type as 'A' | 'AAAA' | 'CNAME', ttl: 0, data: data.replace(/\.$/, '') };
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
