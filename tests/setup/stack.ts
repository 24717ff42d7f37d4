import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';

import { freePorts } from '@pixmesh/testkit/free-ports';
import { startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the running stack, with its `stack.json`. */
    home: string;
    /** Where the spans of the whole mesh can be read. */
    otlpUrl: string;
    /** Where a receiver of a test's own listens, as `http://shop.example.net`. */
    shopPort: number;
  }
}

type Stack = { home: string; otlpUrl: string; shopPort: number; stop: () => Promise<void> };

/** The projects of the ring share one stack: the first of them boots it, and the last to end stops it. */
let booting: Promise<Stack> | null = null;
let users = 0;

/** The whole mesh for the `e2e` ring, booted by the very command that people use, on a fresh home. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  users += 1;
  booting ??= boot();
  const { home, otlpUrl, shopPort, stop } = await booting;
  project.provide('home', home);
  project.provide('otlpUrl', otlpUrl);
  project.provide('shopPort', shopPort);
  return async () => {
    users -= 1;
    if (users === 0) await stop();
  };
}

async function boot(): Promise<Stack> {
  const home = path.resolve(process.env['PIXMESH_E2E_HOME'] ?? '.pixmesh-e2e');
  const otlp = await startOtlpReceiver();
  const [shopPort = 0] = await freePorts(1);
  const env = {
    ...process.env,
    PIXMESH_HOME: home,
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
    // A line for each request, message and delivery: what must not stand in logs is looked for in all of them.
    LOG_LEVEL: 'debug',
    WEBHOOK_DEV_RECEIVERS: `shop.example.net=127.0.0.1:${shopPort}`,
  };
  npmRun(['stop'], env);
  rmSync(home, { recursive: true, force: true });
  if (npmRun(['start', '--', '--detach', '--no-demo'], env) !== 0) {
    throw new Error('the stack did not start');
  }
  const stop = async (): Promise<void> => {
    npmRun(['stop'], env);
    await otlp[Symbol.asyncDispose]();
  };
  return { home, otlpUrl: otlp.url, shopPort, stop };
}

function npmRun(args: readonly string[], env: NodeJS.ProcessEnv): number {
  return spawnSync('npm', ['run', '--silent', ...args], { stdio: 'inherit', env }).status ?? 1;
}
