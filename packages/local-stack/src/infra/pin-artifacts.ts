import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashFiles } from './artifact-digests.ts';
import { KAFKA, REDIS, REGISTRY } from './artifacts.ts';
import { requireMaven } from './find-program.ts';
import { mavenArguments } from './install-artifact.ts';

const DIGESTS_FILE = join(import.meta.dirname, 'artifact-digests.json');

/**
 * Writes `artifact-digests.json` anew from what Maven downloads here and now, into a repository of its own, so that
 * nothing stale is taken. Run it on a machine and a network that are trusted, and read the difference: only files of
 * what was upgraded may change.
 */
const draft = mkdtempSync(join(tmpdir(), 'pixmesh-pin-'));
try {
  const pinned: Record<string, unknown> = {};
  for (const artifact of [REGISTRY, KAFKA, REDIS]) {
    const target = join(draft, artifact.folder);
    const repository = `-Dmaven.repo.local=${join(draft, 'repository')}`;
    execFileSync(requireMaven(), [...mavenArguments(artifact, { draft, target }), repository], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    pinned[artifact.folder] = await hashFiles(target);
  }
  writeFileSync(DIGESTS_FILE, `${JSON.stringify(pinned, null, 2)}\n`);
} finally {
  rmSync(draft, { recursive: true, force: true });
}
