import type { Case } from './case.ts';
import type { Outcome, Result } from './run-suite.ts';
import { SECTION_IDS, SECTIONS, type SectionId } from './sections.ts';

type Counts = Record<Outcome['kind'], number> & { cases: number };
export type Summary = {
  total: Counts;
  sections: { id: SectionId; title: string; counts: Counts }[];
};

export function summarize(results: readonly Result[]): Summary {
  return {
    total: countOutcomes(results),
    sections: SECTION_IDS.map((id) => ({
      id,
      title: SECTIONS[id],
      counts: countOutcomes(results.filter((result) => result.case.section === id)),
    })),
  };
}

/** Sections of which nothing would be seen. */
export function findEmptySections(cases: readonly Case[]): SectionId[] {
  return SECTION_IDS.filter((id) => cases.every((one) => one.section !== id));
}

function countOutcomes(results: readonly Result[]): Counts {
  const counts: Counts = {
    cases: results.length,
    passed: 0,
    failed: 0,
    not_run: 0,
    unobservable: 0,
  };
  for (const { outcome } of results) counts[outcome.kind] += 1;
  return counts;
}
