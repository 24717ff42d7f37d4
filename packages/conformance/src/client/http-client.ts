import { Agent } from 'undici';

const TIMEOUT_MS = 30_000;
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const SOCKETS_MAX = 16;

/** Names with several values are sent as several headers. */
export type HeaderValues = Readonly<Record<string, string | string[]>>;

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
  close(): Promise<void>;
};

/** A client that sends exactly what it is given: repeated headers and broken bodies too. */
export function createHttpClient(): HttpClient {
  const agent = new Agent({ connections: SOCKETS_MAX, maxResponseSize: BODY_BYTES_MAX });
  return {
    send: async ({ url, ...request }) => {
      const { origin, pathname, search } = new URL(url);
      const path = pathname + search;
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await agent.request({ origin, path, signal, ...request });
      const text = await response.body.text();
      return {
        status: response.statusCode,
        headers: new Map(
          Object.entries(response.headers).map(([name, values = []]) => [name, [values].flat()]),
        ),
        text,
        json: parseOrUndefined(text),
        request: `${request.method} ${path}`,
      };
    },
    close: () => agent.destroy(),
  };
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
