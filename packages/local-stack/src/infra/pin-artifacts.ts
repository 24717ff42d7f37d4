import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashFiles, type PinnedFiles } from './artifact-digests.ts';
import { type Artifact, KAFKA, REDIS, REGISTRY } from './artifacts.ts';
import { requireMaven } from './find-program.ts';
import { mavenArguments } from './install-artifact.ts';

const DIGESTS_FILE = join(import.meta.dirname, 'artifact-digests.json');

/**
 * Writes `artifact-digests.json` anew from what Maven downloads here and now, into a repository of its own, so that
 * nothing stale is taken. Run it on a machine and a network that are trusted, and read the difference: only files of
 * what was upgraded may change.
 */
const draft = mkdtempSync(join(tmpdir(), 'pixmesh-pin-'));
const repository = join(draft, 'repository');
try {
  const pinned: Record<string, PinnedFiles> = {};
  for (const artifact of [REGISTRY, KAFKA, REDIS]) pinned[artifact.folder] = await pin(artifact);
  writeFileSync(DIGESTS_FILE, `${JSON.stringify(pinned, null, 2)}\n`);
} finally {
  rmSync(draft, { recursive: true, force: true });
}

async function pin(artifact: Artifact): Promise<PinnedFiles> {
  const target = join(draft, artifact.folder);
  const args = [...mavenArguments(artifact, { draft, target }), `-Dmaven.repo.local=${repository}`];
  execFileSync(requireMaven(), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const files = Object.entries(await hashFiles(target)).map(([name, sha256]) => [
    name,
    { purl: packageUrl(artifact, name), sha256 },
  ]);
  return Object.fromEntries(files) as PinnedFiles;
}

/** The coordinates of a file are its path in Maven's repository: group, name and version. */
function packageUrl({ takenFrom }: Artifact, file: string): string {
  if (takenFrom) {
    return `pkg:maven/${takenFrom.group}/${takenFrom.name}@${takenFrom.version}#${file}`;
  }
  const [path = ''] = globSync(`**/${file}`, { cwd: repository });
  const [version, name, ...group] = path.split('/').toReversed().slice(1);
  return `pkg:maven/${group.toReversed().join('.')}/${name}@${version}${qualifiers(file)}`;
}

/** Of jars there are none. */
function qualifiers(file: string): string {
  const [, classifier] = /-([a-z]+)\.tar\.gz$/.exec(file) ?? [];
  return classifier ? `?classifier=${classifier}&type=tar.gz` : '';
}
