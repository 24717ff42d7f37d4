import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { readIdentity } from '@pixmesh/certificates/mesh-identity';
import { serverEnvironment } from '../inherited-environment.ts';
import { STAGES } from '../supervisor/child-spec.ts';
import { KAFKA } from './artifacts.ts';
import { requireJava } from './find-program.ts';
import { identityFolder } from './identities.ts';
import type { BootDeps } from './infra-provider.ts';
import { installArtifact } from './install-artifact.ts';
import { QUICK_COMPILER } from './java-options.ts';
import { KAFKA_READY_LINE, renderKafkaProperties, renderLogging } from './kafka-properties.ts';
import { acceptsConnection } from './tcp-probe.ts';
import { writeFileAtomically } from '../write-file-atomically.ts';

const FORMAT_LIMIT_MS = 60_000;
const READY_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 8_000;
const CLUSTER_ID_BYTES = 16;

/** One node that is broker and controller; small heap, quick to start. */
const JVM_OPTIONS = ['-Xmx384m', '-XX:+UseSerialGC', QUICK_COMPILER];

/** Starts Kafka in KRaft mode, formatting its storage on first use; answers the broker's address. */
export async function startKafka(
  deps: BootDeps,
  input: { home: string; port: number; controllerPort: number },
): Promise<string> {
  const java = await requireJava();
  const jars = await installArtifact(deps, KAFKA);
  const folder = join(input.home, 'data', 'kafka');
  const logs = join(folder, 'logs');
  mkdirSync(folder, { recursive: true });
  const properties = join(folder, 'server.properties');
  const logging = join(folder, 'log4j2.properties');
  const identity = { keystore: join(folder, 'keystore.pem'), truststore: join(folder, 'ca.pem') };
  const prepare = async () => writeStores(input.home, identity);
  writeFileSync(properties, renderKafkaProperties({ ...input, logs, identity }));
  writeFileSync(logging, renderLogging());
  const classPath = sortedJars(jars).join(delimiter);
  const jvm = [...JVM_OPTIONS, `-Dlog4j2.configurationFile=${logging}`, '-cp', classPath];
  const env = serverEnvironment();
  if (!existsSync(join(logs, 'meta.properties'))) {
    await deps.supervisor.run({
      name: 'kafka-format',
      command: java,
      args: [...jvm, 'kafka.tools.StorageTool', 'format', '-t', newClusterId(), '-c', properties],
      env,
      cwd: folder,
      limitMs: FORMAT_LIMIT_MS,
    });
  }
  await deps.supervisor.start({
    name: 'kafka',
    command: java,
    args: [...jvm, 'kafka.Kafka', properties],
    env,
    cwd: folder,
    stage: STAGES.kafka,
    stopSignal: 'SIGTERM',
    stopLimitMs: STOP_LIMIT_MS,
    readyLimitMs: READY_LIMIT_MS,
    prepare,
    isReady: async (run) =>
      run.output().includes(KAFKA_READY_LINE) && acceptsConnection(input.port),
  });
  return `127.0.0.1:${input.port}`;
}

/** As Kafka reads them: its key and its certificate stand in one file. */
export function renderKeystore({ key, cert }: { key: string; cert: string }): string {
  return `${key.trimEnd()}\n${cert}`;
}

/** Before each start, so that one that was renewed meanwhile is in force. */
function writeStores(home: string, stores: { keystore: string; truststore: string }): void {
  const identity = readIdentity(identityFolder(home, 'kafka'));
  writeFileAtomically(stores.keystore, renderKeystore(identity));
  writeFileAtomically(stores.truststore, identity.ca);
}

function sortedJars(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jar'))
    .sort()
    .map((name) => join(folder, name));
}

/** Kafka writes cluster ids as URL-safe base64 of a UUID, and refuses a leading dash on its command line. */
function newClusterId(): string {
  const id = randomBytes(CLUSTER_ID_BYTES).toString('base64url');
  return id.startsWith('-') ? newClusterId() : id;
}
