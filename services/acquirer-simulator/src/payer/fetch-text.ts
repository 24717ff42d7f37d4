import { request } from 'undici';

const TIMEOUT_MS = 10_000;

/** Where a host is reached from here; null for one that is not. */
export type OriginOf = (host: string) => string | null;

export type Fetched =
  | { kind: 'answer'; status: number; type: string; text: string }
  | { kind: 'none'; reason: string; cause?: unknown };

/** Fetches a URL as a payer would, except that its host is reached at the address that `originOf` names. */
export async function fetchText(originOf: OriginOf, url: URL): Promise<Fetched> {
  const origin = originOf(url.host);
  if (origin === null) return { kind: 'none', reason: `${url.host} is not reached from here` };
  try {
    const { statusCode, headers, body } = await request(`${origin}${url.pathname}${url.search}`, {
      headers: { host: url.host },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const type = String(headers['content-type'] ?? '');
    return { kind: 'answer', status: statusCode, type, text: await body.text() };
  } catch (cause) {
    return { kind: 'none', reason: `${url.host} gave no answer`, cause };
  }
}
