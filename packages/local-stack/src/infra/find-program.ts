import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { StartupFailure } from '../startup-failure.ts';

/** Kafka 4 needs Java 17, and so does the registry. */
const JAVA_VERSION_MIN = 17;
const VERSION_LIMIT_MS = 20_000;

/** The first executable of this name on PATH. */
export function findProgram(name: string): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(delimiter)) {
    const candidate = join(folder, name);
    if (folder !== '' && isExecutable(candidate)) return candidate;
  }
  return undefined;
}

export function requireMaven(): string {
  const mvn = findProgram('mvn');
  if (mvn) return mvn;
  throw new StartupFailure(
    'mvn was not found; install Apache Maven 3.8 or newer (Debian: apt install maven, macOS: brew install maven)',
  );
}

/** The Java to run Kafka and the registry with: `JAVA_HOME` first, then PATH. */
export async function requireJava(): Promise<string> {
  const home = process.env['JAVA_HOME'];
  const ofHome = home ? join(home, 'bin', 'java') : undefined;
  const java = ofHome && isExecutable(ofHome) ? ofHome : findProgram('java');
  if (!java) throw new StartupFailure(`java was not found; ${INSTALL_JAVA}`);
  const version = await readJavaVersion(java);
  if (version !== undefined && version >= JAVA_VERSION_MIN) return java;
  throw new StartupFailure(`${java} is version ${version ?? 'unknown'}; ${INSTALL_JAVA}`);
}

const INSTALL_JAVA = `install a Java runtime of version ${JAVA_VERSION_MIN} or newer (Debian: apt install openjdk-17-jre-headless, macOS: brew install openjdk)`;

/** Major version in the output of `java -version`; it goes to stderr. */
export function parseJavaVersion(output: string): number | undefined {
  const found = /version "(?:1\.)?(\d+)/.exec(output)?.[1];
  return found === undefined ? undefined : Number(found);
}

async function readJavaVersion(java: string): Promise<number | undefined> {
  try {
    const { stderr, stdout } = await promisify(execFile)(java, ['-version'], {
      timeout: VERSION_LIMIT_MS,
    });
    return parseJavaVersion(stderr + stdout);
  } catch {
    return undefined;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
