import { join } from 'node:path';
import { pidFilePath } from './pid-file.ts';

/** Where a running stack describes itself to people, scripts and tests. */
export function stackFilePath(home: string): string {
  return join(home, 'stack.json');
}

/** How commands reach the running supervisor. */
export function controlFilePath(home: string): string {
  return join(home, 'run', 'control.json');
}

/** Files that describe a running stack and must not outlive it. */
export function runFiles(home: string): string[] {
  return [stackFilePath(home), controlFilePath(home), pidFilePath(home)];
}
