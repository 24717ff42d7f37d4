import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { inheritedEnvironment } from '../inherited-environment.ts';
import type { Artifact } from './artifacts.ts';
import { requireMaven } from './find-program.ts';
import type { BootDeps } from './infra-provider.ts';
import { withInstallLock } from './install-lock.ts';

/** The only version of the plugin that unpacks the registry without its parent pom. */
const PLUGIN = 'org.apache.maven.plugins:maven-dependency-plugin:2.8';
const DOWNLOAD_LIMIT_MS = 15 * 60_000;
const EXECUTABLE = 0o755;

/** Downloads are kept per user, so that every clone and every home shares them. */
export function cacheFolder(): string {
  return resolve(process.env['PIXMESH_CACHE'] || join(homedir(), '.cache', 'pixmesh'));
}

export function isInstalled(artifact: Artifact): boolean {
  return existsSync(join(cacheFolder(), artifact.folder));
}

/**
 * The folder of a downloaded artifact. A download goes to a draft folder and is renamed when it is
 * whole; one Maven runs at a time on this cache, because its repository is not locked.
 */
export async function installArtifact(deps: BootDeps, artifact: Artifact): Promise<string> {
  const folder = join(cacheFolder(), artifact.folder);
  if (existsSync(folder)) return folder;
  const mvn = requireMaven();
  mkdirSync(cacheFolder(), { recursive: true });
  queue = queue.then(() => withInstallLock(cacheFolder(), deps.log, download));
  await queue;
  return folder;

  async function download(): Promise<void> {
    if (existsSync(folder)) return;
    deps.log.line(`downloading ${artifact.title}`);
    const since = performance.now();
    const work = downloadInto(deps, { artifact, folder, mvn });
    await deps.log.waiting(`download of ${artifact.title}`, work);
    const seconds = ((performance.now() - since) / 1000).toFixed(1);
    deps.log.line(`downloaded ${artifact.title} in ${seconds} s`);
  }
}

/** Downloads of this process, in the order in which they were asked for: Kafka first. */
let queue: Promise<void> = Promise.resolve();

async function downloadInto(
  deps: BootDeps,
  input: { artifact: Artifact; folder: string; mvn: string },
): Promise<void> {
  const draft = await mkdtemp(join(cacheFolder(), 'draft-'));
  try {
    const target = join(draft, 'content');
    const pom = join(draft, 'pom.xml');
    writeFileSync(pom, renderPom(input.artifact.pom(target)));
    const goal = `${PLUGIN}:${input.artifact.goal}`;
    await deps.supervisor.run({
      name: `download-${input.artifact.folder}`,
      command: input.mvn,
      args: ['-B', '-f', pom, goal, `-DoutputDirectory=${target}`, '-DincludeScope=runtime'],
      env: inheritedEnvironment(),
      cwd: draft,
      limitMs: DOWNLOAD_LIMIT_MS,
    });
    for (const name of await readdir(target)) {
      if (name.startsWith('redis-server-')) await chmod(join(target, name), EXECUTABLE);
    }
    await rename(target, input.folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function renderPom(content: string): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>dev.pixmesh</groupId><artifactId>download</artifactId><version>1</version>
<packaging>pom</packaging>${content}</project>
`;
}
