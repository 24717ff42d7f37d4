import { spawn } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { freePorts } from '@pixmesh/testkit/free-ports';
import { startOtlpReceiver } from '@pixmesh/testkit/otlp-receiver';
import type { TestProject } from 'vitest/node';

import { ALONE_WORKERS } from './alone-workers.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Folder of the running stack, with its `stack.json`. */
    home: string;
    /** Folders of all stacks of the run, that one first. */
    homes: readonly string[];
    /** Where the spans of the first stack can be read; the others trace nothing, as a mesh without a collector. */
    otlpUrl: string;
    /** Where a receiver of a test's own listens, as `http://shop.example.net`. */
    shopPort: number;
  }
}

type Stop = () => Promise<void>;
type FirstStack = { otlpUrl: string; shopPort: number; stop: Stop };

const HOME = path.resolve(process.env['PIXMESH_E2E_HOME'] ?? '.pixmesh-e2e');
/**
 * Commands whose outcome was lost are sent again sooner than on a laptop: files wait for it. Full reconciliations are
 * those that files ask for: a scheduled one compares everything once a minute beside them.
 */
const PERIODS = { COMMAND_RESEND_MS: '10000', RECONCILIATION_FULL_MS: '3600000' };
/** Files of accounts of their own, beside which the second stack boots. */
const SIDE_BY_SIDE = /\/tests\/e2e\/[^/]+$/;
const ENDED: ReadonlySet<string> = new Set(['passed', 'failed', 'skipped']);
const HALF_POLL_MS = 500;
/** Of the second worker of the files that need a stack to themselves. */
const SECOND_HOME = `${HOME}-second`;

/** The projects of the ring share their stacks: the first of them boots these, and the last to end stops them. */
let stacks: { first: Promise<FirstStack>; second: Promise<Stop | null> } | null = null;
let users = 0;

/** The whole mesh for the `e2e` ring, booted by the very command that people use, on a fresh home. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  users += 1;
  const needsSecond = Math.min(ALONE_WORKERS, countAlone(project)) > 1;
  stacks ??= bootAll(project, needsSecond);
  const { first, second } = stacks;
  const { otlpUrl, shopPort } = await first;
  project.provide('home', HOME);
  project.provide('homes', needsSecond ? [HOME, SECOND_HOME] : [HOME]);
  project.provide('otlpUrl', otlpUrl);
  project.provide('shopPort', shopPort);
  return async () => {
    users -= 1;
    if (users > 0) return;
    const booted = await Promise.allSettled([first.then(({ stop }) => stop), second]);
    const stops = booted.flatMap((one) =>
      one.status === 'fulfilled' && one.value !== null ? [one.value] : [],
    );
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** Files of this run that need a stack to themselves. */
function countAlone(project: TestProject): number {
  const files = project.vitest.state.getPaths();
  return files.filter((file) => file.includes('/tests/e2e/alone/')).length;
}

/** The second one boots while files already run on the first; who needs it waits for its `stack.json`. */
function bootAll(project: TestProject, needsSecond: boolean): NonNullable<typeof stacks> {
  const first = Promise.all([HOME, SECOND_HOME].map(clear)).then(bootFirst);
  const second = needsSecond ? first.then(() => bootSecond(project)) : Promise.resolve(null);
  // Its files fail one by one, as they wait for it in vain.
  second.catch((error: Error) => process.stderr.write(`${SECOND_HOME}: ${error.message}\n`));
  return { first, second };
}

/** Once half of the files that run side by side have ended: earlier it would only take processor time from them. */
async function bootSecond({ vitest: { state } }: TestProject): Promise<Stop | null> {
  const total = state.getPaths().filter((file) => SIDE_BY_SIDE.test(file)).length;
  while (2 * countEnded() < total) {
    await delay(HALF_POLL_MS);
    if (users === 0) return null;
  }
  return await boot(SECOND_HOME, {});

  function countEnded(): number {
    return state
      .getTestModules()
      .filter((module) => SIDE_BY_SIDE.test(module.moduleId) && ENDED.has(module.state())).length;
  }
}

/** Nothing is left of an earlier run: what waits for a `stack.json` must not find that one. */
async function clear(home: string): Promise<void> {
  if (!existsSync(home)) return;
  await npmRun(['stop'], { ...process.env, PIXMESH_HOME: home });
  rmSync(home, { recursive: true, force: true });
}

async function bootFirst(): Promise<FirstStack> {
  const otlp = await startOtlpReceiver();
  const [shopPort = 0] = await freePorts(1);
  const stop = await boot(HOME, {
    OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
    // A line for each request, message and delivery: what must not stand in logs is looked for in all of them.
    LOG_LEVEL: 'debug',
    WEBHOOK_DEV_RECEIVERS: `shop.example.net=127.0.0.1:${shopPort}`,
  });
  return {
    otlpUrl: otlp.url,
    shopPort,
    stop: async () => {
      await stop();
      await otlp[Symbol.asyncDispose]();
    },
  };
}

/** Answers what stops it. */
async function boot(home: string, settings: Record<string, string>): Promise<() => Promise<void>> {
  const env = { ...process.env, ...PERIODS, ...settings, PIXMESH_HOME: home };
  if ((await npmRun(['start', '--', '--detach', '--no-demo'], env)) !== 0) {
    throw new Error('the stack did not start');
  }
  return async () => void (await npmRun(['stop'], env));
}

function npmRun(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['run', '--silent', ...args], { stdio: 'inherit', env });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });
}
