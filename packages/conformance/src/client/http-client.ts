import http from 'node:http';
import https from 'node:https';

const TIMEOUT_MS = 30_000;
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const SOCKETS_MAX = 16;

/** Names with several values are sent as several headers. */
export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

type HttpRequest = {
  method: string;
  url: string;
  headers: HeaderValues;
  body: Buffer | null;
};

export type Answer = {
  status: number;
  /** By lower-case name, every value that was sent. */
  headers: ReadonlyMap<string, readonly string[]>;
  text: string;
  /** The parsed body; undefined when it is no JSON. */
  json: unknown;
  /** Method and path, for messages. */
  request: string;
};

export type HttpClient = {
  send(request: HttpRequest): Promise<Answer>;
  close(): void;
};

/** A client that sends exactly what it is given: repeated headers and broken bodies too. */
export function createHttpClient(): HttpClient {
  const options = { keepAlive: true, maxSockets: SOCKETS_MAX };
  const agents = { 'http:': new http.Agent(options), 'https:': new https.Agent(options) };
  return {
    send: (request) => send(agents, request),
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

type Agents = { 'http:': http.Agent; 'https:': https.Agent };

function send(agents: Agents, request: HttpRequest): Promise<Answer> {
  const url = new URL(request.url);
  const secure = url.protocol === 'https:';
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const outgoing = (secure ? https : http).request(url, {
    method: request.method,
    agent: secure ? agents['https:'] : agents['http:'],
    headers: toHeaders(request),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  outgoing.on('error', reject);
  outgoing.on('response', (response) => {
    readAnswer(response, `${request.method} ${url.pathname}${url.search}`).then(resolve, reject);
  });
  outgoing.end(request.body ?? undefined);
  return promise;
}

function toHeaders(request: HttpRequest): http.OutgoingHttpHeaders {
  const headers: http.OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers)) {
    headers[name] = typeof value === 'string' ? value : [...value];
  }
  if (request.body !== null) headers['content-length'] = request.body.length;
  return headers;
}

async function readAnswer(response: http.IncomingMessage, request: string): Promise<Answer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > BODY_BYTES_MAX) throw new Error(`${request}: the answer is too long`);
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  return {
    status: response.statusCode ?? 0,
    headers: new Map(
      Object.entries(response.headersDistinct).map(([name, values]) => [name, values ?? []]),
    ),
    text,
    json: parseOrUndefined(text),
    request,
  };
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
