/** A run of escapes, or a percent sign that begins none. */
const ESCAPES = /(?:%[0-9a-f]{2})+|%/gi;

/**
 * The target with a path that every decoder can decode: an escape that is none (`%zz`), or whose bytes are no UTF-8
 * (`%E0`), stands for its own characters, as in the WHATWG URL standard. So an ill-formed id reaches its route and
 * gets that route's answers (decision 14), instead of one of the framework's. The query stays as it was sent.
 */
export function makeDecodable(target: string): string {
  if (!target.includes('%')) return target;
  const end = target.search(/[?#]/);
  const path = end === -1 ? target : target.slice(0, end);
  const decodable = path.replace(ESCAPES, (run) =>
    isDecodable(run) ? run : run.replaceAll('%', '%25'),
  );
  return decodable + target.slice(path.length);
}

function isDecodable(run: string): boolean {
  try {
    decodeURIComponent(run);
    return true;
  } catch {
    return false;
  }
}
