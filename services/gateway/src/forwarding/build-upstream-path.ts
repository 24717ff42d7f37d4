/**
 * Puts a request's parameters back into the template of its route. The owner sees the same path, whatever
 * the client wrote: each value is encoded again, so no value can become a separator, and the query goes on
 * as it stood on the wire.
 *
 * The segments `.` and `..` are resolved by URL parsers in every encoding, so they are encoded twice: no id
 * looks like either form, and the owner's 404 is the same.
 */
export function buildUpstreamPath(
  template: string,
  params: Readonly<Record<string, string>>,
  rawUrl: string,
): string {
  const path = template.replace(/:(\w+)/g, (_match, name: string) =>
    encodeSegment(params[name] ?? ''),
  );
  return path + rawQuery(rawUrl);
}

function encodeSegment(value: string): string {
  if (/^\.{1,2}$/.test(value)) return value.replaceAll('.', '%252E');
  return encodeURIComponent(value);
}

/** From the first question mark on; a fragment is never a part of it. */
function rawQuery(rawUrl: string): string {
  const start = rawUrl.indexOf('?');
  if (start === -1) return '';
  const end = rawUrl.indexOf('#', start);
  return end === -1 ? rawUrl.slice(start) : rawUrl.slice(start, end);
}
