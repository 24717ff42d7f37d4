const LOCKED = /^(?<image>[\w./-]+:[\w.-]+)@sha256:[0-9a-f]{64}$/;
const BASE = 'node:24-slim';

/**
 * The commands that build the images of a release, one a target, from base images by the digests of the lock file: one
 * `image:tag@sha256:…` a line.
 *
 * @throws Error where the lock file has no digest of the base image
 */
export function buildCommands(
  lock: string,
  release: { version: string; revision: string; targets: readonly string[] },
): string[] {
  const { version, revision, targets } = release;
  const lines = lock.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const base = lines.find((line) => LOCKED.exec(line)?.groups?.['image'] === BASE);
  if (base === undefined) throw new Error(`deploy/images.lock has no digest of ${BASE}`);
  const values = [`NODE_IMAGE=${base}`, `VERSION=${version}`, `REVISION=${revision}`];
  const flags = values.map((value) => `--build-arg ${value}`).join(' ');
  return targets.map(
    (target) =>
      `docker build -f deploy/Dockerfile ${flags} --target ${target} -t pixmesh-${target}:${version} .`,
  );
}
