/** Rows under a head, in columns as wide as they need to be; numbers stand to the right. */
export function textTable(
  head: readonly string[],
  rows: readonly (readonly (string | number | bigint)[])[],
): string {
  const texts = [head, ...rows.map((row) => row.map(String))];
  const widths = head.map((_, column) =>
    Math.max(...texts.map((row) => (row[column] ?? '').length)),
  );
  const isNumber = head.map((_, column) =>
    rows.every((row) => typeof row[column] !== 'string' || row[column] === '-'),
  );
  return texts
    .map((row) =>
      row
        .map((text, column) => {
          const width = widths[column] ?? 0;
          return isNumber[column] ? text.padStart(width) : text.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
