import { Worker } from 'node:worker_threads';

import { AppError } from '@pixmesh/kernel/app-error';

import type { StaticAnswer } from './static-answer.ts';

export const REFERENCE_PATH = '/reference';
export const REFERENCE_SCRIPT_PATH = '/reference/scalar.js';

/** A page that takes longer is broken; the next request tries again. */
const RENDER_TIMEOUT_MS = 30_000;

export type ReferenceFiles = { page: StaticAnswer; script: StaticAnswer };

/**
 * The reference page and its script, rendered at the first request and cached. In a thread of its own, because the
 * renderer brings 4 MB of script as one literal: loading it takes about half a second and 40 MB, which payments
 * would wait for and which no gateway needs afterwards.
 */
export function createReferencePage(title: string): { load(): Promise<ReferenceFiles> } {
  let loading: Promise<ReferenceFiles> | null = null;
  return {
    load: () => {
      loading ??= render(title).catch((error: unknown) => {
        loading = null;
        throw error;
      });
      return loading;
    },
  };
}

async function render(title: string): Promise<ReferenceFiles> {
  // Without the parent's preloads: the thread has nothing to trace.
  const worker = new Worker(new URL('./render-reference-page.ts', import.meta.url), {
    execArgv: [],
    workerData: title,
  });
  try {
    return await new Promise((resolve, reject) => {
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.once('exit', () => reject(new Error('the renderer ended without a page')));
      AbortSignal.timeout(RENDER_TIMEOUT_MS).addEventListener('abort', () =>
        reject(new Error('the renderer took too long')),
      );
    });
  } catch (cause) {
    throw new AppError('INTERNAL_ERROR', { message: 'no reference page', cause });
  } finally {
    await worker.terminate();
  }
}
