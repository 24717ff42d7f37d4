import { type ImageLock, pinned } from '../images/image-lock.ts';

/** As the Dockerfile names it. */
const BASE = 'node:24-slim';

/**
 * The commands that build the images of a release, one a target, from the base image by its digest. Their names are
 * those that the chart and the compose file take.
 *
 * @throws Error where the lock has no digest of the base image
 */
export function buildCommands(
  lock: ImageLock,
  release: { version: string; revision: string; targets: readonly string[] },
): string[] {
  const { version, revision, targets } = release;
  const values = [`NODE_IMAGE=${pinned(lock, BASE)}`, `VERSION=${version}`, `REVISION=${revision}`];
  const flags = values.map((value) => `--build-arg ${value}`).join(' ');
  return targets.map(
    (target) =>
      `docker build -f deploy/Dockerfile ${flags} --target ${target} -t pixmesh/${target}:${version} .`,
  );
}
