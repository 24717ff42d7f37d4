import { BROKER_RIGHTS } from '../src/internal/broker-rights.ts';

/** The rights at the broker as ARCHITECTURE.md shows them. */
export function renderBrokerRights(): string {
  const rows = Object.entries(BROKER_RIGHTS).map(
    ([principal, { writes, reads, groups, measures }]) =>
      toRow([
        `\`${principal}\``,
        ...[writes, reads, groups].map(toNames),
        measures ? 'every topic and group' : '–',
      ]),
  );
  return [
    toRow(['Principal', 'Writes', 'Reads', 'In the groups', 'Measures']),
    toRow(['---', '---', '---', '---', '---']),
    ...rows,
  ].join('\n');
}

function toNames(names: readonly string[]): string {
  return names.length === 0 ? '–' : names.map((name) => `\`${name}\``).join(', ');
}

function toRow(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}
