import { createWriteStream } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import type { GenericContainer, StartedTestContainer } from 'testcontainers';
import type { Progress } from '../progress.ts';
import { StartupFailure } from '../startup-failure.ts';
import { createLogFile, type LogFile } from '../supervisor/log-file.ts';
import {
  type ContainerEngine,
  createLoopbackNetwork,
  followPids,
  hasImage,
  importTestcontainers,
  keepRunning,
  labelsOf,
  pullImage,
  reasonOf,
  removeAllOf,
} from './container-engine.ts';
import { homeDigest } from './postgres-account.ts';

const READY_LIMIT_MS = 120_000;
const READY_POLL_INTERVAL_MS = 100;

export interface ContainerSpec {
  name: string;
  image: string;
  /** Published on the machine's loopback; undefined for a container on the machine's own network. */
  ports: { container: number; host: number } | undefined;
  environment: Readonly<Record<string, string>>;
  command?: string[];
  /** Files that are in place before the container starts, readable by every user in it. */
  files?: { target: string; content: string }[];
  /** Names that lead to addresses of the machine. */
  extraHosts?: { host: string; ipAddress: string }[];
  /** Asked again and again until it answers true; `output` is what the container has printed. */
  isReady(output: () => string): Promise<boolean>;
}

export interface ContainerRuns {
  /**
   * Resolves when the container is ready, to the name by which other containers of the run reach it.
   * Its output goes to `<home>/logs/<name>.log`.
   */
  start(spec: ContainerSpec): Promise<string>;
  /** The same with a container that takes the place of the one of this name. */
  replace(spec: ContainerSpec): Promise<string>;
  /** Removes every container of this run, also those that are being started. */
  close(): Promise<void>;
}

interface Run {
  home: string;
  log: Progress;
  engine: ContainerEngine;
  library: Awaited<ReturnType<typeof importTestcontainers>>;
  /** Also the prefix of the containers' names. */
  network: string;
  labels: Record<string, string>;
  closing: AbortController;
  creations: Promise<StartedTestContainer>[];
}

/**
 * The containers of one home: whatever an earlier run of it left is removed before the first starts.
 * `onPid` is called by `ContainerSpec.name` after each start and end of one.
 */
export async function openContainerRuns(
  { home, log }: { home: string; log: Progress },
  onPid: (name: string, pid: number | null) => void,
): Promise<ContainerRuns> {
  const library = await importTestcontainers();
  const engine = (await library.getContainerRuntimeClient()).container.dockerode;
  const digest = homeDigest(home);
  const network = `pixmesh-${digest}`;
  const labels = labelsOf(digest);
  await removeAllOf(engine, digest);
  await createLoopbackNetwork(engine, { name: network, labels });
  const following = await followPids(engine, digest, (name, pid) => {
    onPid(name.slice(`${network}-`.length), pid);
  });
  const closing = new AbortController();
  const run: Run = { home, log, engine, library, network, labels, closing, creations: [] };
  return {
    start: (spec) => startContainer(run, spec),
    async replace(spec) {
      await engine.getContainer(nameOf(run, spec)).remove({ force: true });
      return await startContainer(run, spec);
    },
    async close() {
      closing.abort(new StartupFailure('the stack is being stopped'));
      await Promise.allSettled(run.creations);
      following[Symbol.dispose]();
      await removeAllOf(engine, digest);
    },
  };
}

async function startContainer(run: Run, spec: ContainerSpec): Promise<string> {
  const { engine, log, closing } = run;
  if (!(await hasImage(engine, spec.image))) {
    log.line(`${spec.name}: downloading the image ${spec.image}`);
    await pullImage(engine, spec.image, closing.signal);
  }
  const logFile = createLogFile(run.home, spec.name);
  const container = await create(run, spec, logFile);
  await untilReady(run, spec, { id: container.getId(), logFile });
  await keepRunning(engine, container.getId());
  return nameOf(run, spec);
}

function nameOf({ network }: Run, { name }: ContainerSpec): string {
  return `${network}-${name}`;
}

async function create(
  run: Run,
  spec: ContainerSpec,
  logFile: LogFile,
): Promise<StartedTestContainer> {
  run.closing.signal.throwIfAborted();
  const creation = describe(run, spec)
    .withLogConsumer((lines) => lines.pipe(createWriteStream(logFile.path, { flags: 'a' })))
    .start();
  run.creations.push(creation);
  try {
    return await creation;
  } catch (error) {
    throw new StartupFailure(
      `the engine could not start ${spec.name} (${spec.image}): ${reasonOf(error)}`,
    );
  }
}

function describe(run: Run, spec: ContainerSpec): GenericContainer {
  const { library, network, labels } = run;
  const { GenericContainer, Wait } = library;
  const container = new GenericContainer(spec.image)
    .withName(nameOf(run, spec))
    .withLabels(labels)
    .withNetworkMode(spec.ports ? network : 'host')
    .withEnvironment(spec.environment)
    .withExtraHosts(spec.extraHosts ?? [])
    .withCopyContentToContainer((spec.files ?? []).map((file) => ({ ...file, mode: 0o444 })))
    // We wait ourselves. The library's checks run commands in the container, and a container that
    // dies meanwhile makes them throw where nobody can catch it.
    .withWaitStrategy(Wait.forAll([]));
  if (spec.ports) container.withExposedPorts(spec.ports);
  return spec.command ? container.withCommand(spec.command) : container;
}

async function untilReady(
  { engine, closing }: Run,
  spec: ContainerSpec,
  { id, logFile }: { id: string; logFile: LogFile },
): Promise<void> {
  const deadline = performance.now() + READY_LIMIT_MS;
  const failure = (what: string) => new StartupFailure(`${spec.name} ${what}`, logFile.lastLines());
  while (!(await spec.isReady(() => logFile.tailSince(0)))) {
    closing.signal.throwIfAborted();
    const { State: state } = await engine.getContainer(id).inspect();
    if (!state.Running) throw failure(`ended with exit code ${state.ExitCode}`);
    if (performance.now() > deadline) {
      throw failure(`was not ready within ${READY_LIMIT_MS / 1000} s`);
    }
    await delay(READY_POLL_INTERVAL_MS);
  }
}
