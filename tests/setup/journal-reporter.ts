import { appendFileSync } from 'node:fs';
import path from 'node:path';

import type { Reporter, TestModule } from 'vitest/node';

/** Where each file's outcome is appended as it ends, for a run that goes on where it was interrupted. */
export const JOURNAL = 'PIXMESH_TEST_JOURNAL';

/** A file that has ended: one line of the journal. */
export type JournalLine = { file: string; failures: string[] };

export default class JournalReporter implements Reporter {
  onTestModuleEnd(module: TestModule): void {
    const journal = process.env[JOURNAL];
    if (journal === undefined || module.state() === 'skipped') return;
    const failed = [...module.children.allTests('failed')].map(
      (test) => `${test.fullName}: ${test.result().errors?.[0]?.message.split('\n', 1)[0]}`,
    );
    const outside = module.errors().map(({ message }) => message);
    const line: JournalLine = {
      file: path.relative(process.cwd(), module.moduleId),
      failures: [...failed, ...outside],
    };
    appendFileSync(journal, `${JSON.stringify(line)}\n`);
  }
}
