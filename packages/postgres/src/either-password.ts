const OTHER_PASSWORD = 'other_password';
/** What the server answers to a wrong password (SQLSTATE invalid_password), before any statement. */
const PASSWORD_REFUSED = '28P01';
/** Once with each, and once more where another connection has just found out that the password was changed. */
const TRIES_MAX = 3;

/** The URL by which connections are opened, while its password may be changed at the server. */
export type EitherPassword = {
  url(): string;
  /** Does it again with the other password where the server refused this one: nothing of it has happened then. */
  orOther<T>(work: () => Promise<T>): Promise<T>;
};

/**
 * A role has one password at a time, so it changes at the server between two connections, and what opens them has to
 * know both (ADR 0032): the one in its place in the URL, and `other_password` among the parameters. What the server
 * took last is tried first.
 */
export function createEitherPassword(given: string): EitherPassword {
  const urls = urlsOf(given);
  let turn = 0;
  return { url: () => urls[turn % urls.length] as string, orOther };

  async function orOther<T>(work: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      const before = turn;
      try {
        return await work();
      } catch (error) {
        if (urls.length === 1 || tries === TRIES_MAX || !isPasswordRefused(error)) throw error;
        if (turn === before) turn += 1;
      }
    }
  }
}

function urlsOf(given: string): string[] {
  const url = new URL(given);
  const other = url.searchParams.get(OTHER_PASSWORD);
  if (other === null) return [given];
  url.searchParams.delete(OTHER_PASSWORD);
  const second = new URL(url);
  // As it would stand in its own place: the parser of parameters has decoded it.
  second.password = encodeURIComponent(other);
  return [url.href, second.href];
}

function isPasswordRefused(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === PASSWORD_REFUSED;
}
