import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { inheritedEnvironment } from '../inherited-environment.ts';
import { checkDigests, checkedFolderName } from './artifact-digests.ts';
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
  return existsSync(join(cacheFolder(), checkedFolderName(artifact)));
}

/**
 * The folder of a downloaded artifact. A download goes to a draft folder and is renamed when it is whole and every
 * file of it has its pinned digest; one Maven runs at a time on this cache, because its repository is not locked.
 */
export async function installArtifact(deps: BootDeps, artifact: Artifact): Promise<string> {
  const folder = join(cacheFolder(), checkedFolderName(artifact));
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
  const { artifact } = input;
  const draft = await mkdtemp(join(cacheFolder(), 'draft-'));
  const run = (command: string, args: readonly string[]) =>
    deps.supervisor.run({
      name: `download-${artifact.folder}`,
      command,
      args: [...args],
      env: inheritedEnvironment(),
      cwd: draft,
      limitMs: DOWNLOAD_LIMIT_MS,
    });
  try {
    const target = join(draft, 'content');
    await run(input.mvn, mavenArguments(artifact, { draft, target }));
    await checkDigests(target, artifact.files);
    if (artifact.archive) {
      const archive = join(draft, artifact.archive);
      await rename(join(target, artifact.archive), archive);
      await run('tar', ['-xzf', archive, '-C', target]);
    }
    for (const name of await readdir(target)) {
      if (name.startsWith('redis-server-')) await chmod(join(target, name), EXECUTABLE);
    }
    await rename(target, input.folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Maven's command line that fills `target`; writes the pom that it reads. */
export function mavenArguments(
  artifact: Artifact,
  { draft, target }: { draft: string; target: string },
): string[] {
  const pom = join(draft, 'pom.xml');
  writeFileSync(pom, renderPom(artifact.pom(target)));
  const goal = `${PLUGIN}:${artifact.goal}`;
  return ['-B', '-f', pom, goal, `-DoutputDirectory=${target}`, '-DincludeScope=runtime'];
}

function renderPom(content: string): string {
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>dev.pixmesh</groupId><artifactId>download</artifactId><version>1</version>
<packaging>pom</packaging>${content}</project>
`;
}
