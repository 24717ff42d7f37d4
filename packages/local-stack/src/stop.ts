import { createProgress } from './progress.ts';
import { readHome } from './repository.ts';
import { runCommand } from './run-command.ts';
import { stopStack } from './supervisor/stop-stack.ts';

await runCommand(() => stopStack(readHome(), createProgress()));
