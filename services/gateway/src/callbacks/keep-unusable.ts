import { createHash } from 'node:crypto';

import type { Logger } from '@pixmesh/telemetry/logger';

import { countBodyNotKept, reportBodiesNotKept } from '#reports.ts';

/**
 * Bodies without a single item of a known kind, or mostly beside their items, that one gateway keeps in a window,
 * whole.
 */
export const BODIES_MAX = 100;
/** Their bytes together; one body has at most 1 MiB. */
export const BYTES_MAX = 4 * 1024 * 1024;
const WINDOW_MS = 60 * 60 * 1000;
/** Between two lines in the log about what was not kept. */
const REPORT_MS = 60 * 1000;

/** Whether a body that is of no use, or mostly of none, is kept whole. */
export type KeepUnusable = (body: Buffer) => boolean;

/**
 * Bounds what a caller with the secret has us store, publish and log of what nobody can use. In each window so many
 * bodies and so many bytes are kept that people can see what came; of the rest there is a count, and the digest of one
 * a minute. `now` is a clock that never jumps, in milliseconds.
 */
export function createKeepUnusable(deps: { logger: Logger; now: () => number }): KeepUnusable {
  let window = { endsAtMs: -Infinity, bodies: 0, bytes: 0 };
  let unreported = { bodies: 0, bytes: 0, fromMs: -Infinity };
  return (body) => {
    const nowMs = deps.now();
    if (nowMs >= window.endsAtMs) window = { endsAtMs: nowMs + WINDOW_MS, bodies: 0, bytes: 0 };
    if (window.bodies < BODIES_MAX && window.bytes + body.length <= BYTES_MAX) {
      window.bodies += 1;
      window.bytes += body.length;
      return true;
    }
    countNotKept(body, nowMs);
    return false;
  };

  function countNotKept(body: Buffer, nowMs: number): void {
    countBodyNotKept();
    unreported.bodies += 1;
    unreported.bytes += body.length;
    if (nowMs < unreported.fromMs) return;
    const { bodies, bytes } = unreported;
    const sha256 = createHash('sha256').update(body).digest('hex');
    reportBodiesNotKept(deps.logger, { bodies, bytes, sha256_of_last: sha256 });
    unreported = { bodies: 0, bytes: 0, fromMs: nowMs + REPORT_MS };
  }
}
