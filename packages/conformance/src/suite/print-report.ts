import type { Result } from './run-suite.ts';
import { summarize } from './summarize.ts';

const COUNT_WIDTH = 7;

/** A failure in three lines: the sentence, and what was seen instead. */
export function describeFailure(result: Result): string {
  const { case: one, outcome } = result;
  if (outcome.kind !== 'failed') return '';
  return [
    `FAILED ${one.id}: ${one.sentence}`,
    `       ${outcome.what}`,
    `       expected ${outcome.expected}`,
    `       got      ${outcome.got}`,
  ].join('\n');
}

/** The whole report: what was left out and why, the table of sections, and the line of counts at the end. */
export function formatReport(results: readonly Result[]): string {
  const { total, sections } = summarize(results);
  const titleWidth = Math.max(...sections.map(({ title }) => title.length));
  const header = row('Section', ['cases', 'passed', 'failed', 'not run', 'unobs.']);
  const rows = sections.map(({ title, counts: c }) =>
    row(title, [c.cases, c.passed, c.failed, c.not_run, c.unobservable]),
  );
  return [
    ...results.filter(({ outcome }) => outcome.kind === 'failed').map(describeFailure),
    ...describeNotRun(results),
    '',
    header,
    ...rows,
    '',
    `${total.cases} cases: ${total.unobservable} unobservable from outside`,
    `${total.passed} passed, ${total.failed} failed, ${total.not_run} not run`,
  ].join('\n');

  function row(title: string, cells: readonly (string | number)[]): string {
    const columns = cells.map((cell) => String(cell).padStart(COUNT_WIDTH));
    return `${title.padEnd(titleWidth)} ${columns.join(' ')}`;
  }
}

function describeNotRun(results: readonly Result[]): string[] {
  return results.flatMap(({ case: one, outcome }) =>
    outcome.kind === 'not_run' ? [`not run  ${one.id} (needs ${outcome.missing.join(', ')})`] : [],
  );
}
