import { readFile } from 'node:fs/promises';
import path from 'node:path';

export type Counts = { passed: number; failed: number; skipped: number };

export type FileTime = { file: string; ms: number };

/** What a run of vitest came to. */
export type RunReport = { counts: Counts; failures: string[]; files: FileTime[] };

/** The part of vitest's JSON report that is read here. */
type Report = {
  numPassedTests?: number;
  numFailedTests?: number;
  numPendingTests?: number;
  numTodoTests?: number;
  testResults?: readonly TestFile[];
};

type TestFile = {
  name: string;
  status: string;
  message: string;
  startTime: number;
  endTime: number;
  assertionResults: readonly { fullName: string; status: string; failureMessages?: string[] }[];
};

export async function readReport(file: string): Promise<RunReport> {
  const text = await readFile(file, 'utf8').catch(() => '{}');
  return summarize(JSON.parse(text) as Report);
}

export function summarize(report: Report): RunReport {
  const files = report.testResults ?? [];
  return {
    counts: {
      passed: report.numPassedTests ?? 0,
      failed: report.numFailedTests ?? 0,
      skipped: (report.numPendingTests ?? 0) + (report.numTodoTests ?? 0),
    },
    failures: files.flatMap(describeFailures),
    files: files.map((file) => ({ file: relative(file.name), ms: file.endTime - file.startTime })),
  };
}

/** The slowest files, slowest first. */
export function slowest(files: readonly FileTime[], count: number): FileTime[] {
  return [...files].sort((one, other) => other.ms - one.ms).slice(0, count);
}

/** `N passed, N failed[, N skipped]`. */
export function describeCounts({ passed, failed, skipped }: Counts): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function describeFailures(file: TestFile): string[] {
  const name = relative(file.name);
  const failed = file.assertionResults.filter((test) => test.status === 'failed');
  if (file.status === 'failed' && failed.length === 0) return [`${name}\n  ${file.message}`];
  return failed.map(
    (test) => `${name} > ${test.fullName}\n  ${firstLine(test.failureMessages?.[0])}`,
  );
}

function relative(file: string): string {
  return path.relative(process.cwd(), file);
}

function firstLine(message = ''): string {
  return message.split('\n', 1)[0] ?? '';
}
