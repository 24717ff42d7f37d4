import type { Case } from './case.ts';
import { SECTION_IDS, SECTIONS } from './sections.ts';

/** The map of specification and cases as Markdown. */
export function formatMap(cases: readonly Case[]): string {
  const counts = SECTION_IDS.map((id) => {
    const own = cases.filter((one) => one.section === id);
    const observed = own.filter(({ kind }) => kind === 'observed').length;
    return `| ${SECTIONS[id]} | ${own.length} | ${observed} |`;
  });
  const observed = cases.filter(({ kind }) => kind === 'observed').length;
  return [
    '# Conformance',
    '',
    'Every sentence of the specification and the case that checks it.',
    '',
    `${cases.length} sentences, ${observed} of them observed by a case.`,
    '',
    '| Section | Sentences | Observed |',
    '| --- | --- | --- |',
    ...counts,
    ...SECTION_IDS.flatMap((id) => [
      '',
      `## ${SECTIONS[id]}`,
      '',
      '| Case | Sentence | Seen |',
      '| --- | --- | --- |',
      ...cases.filter((one) => one.section === id).map(formatCase),
    ]),
    '',
  ].join('\n');
}

function formatCase(one: Case): string {
  return `| \`${one.id}\` | ${one.sentence.replaceAll('|', '\\|')} | ${howSeen(one)} |`;
}

function howSeen(one: Case): string {
  if (one.kind !== 'observed') return `${one.kind}: ${one.reason}`;
  return one.needs.length === 0 ? 'by the key alone' : `needs ${one.needs.join(', ')}`;
}
