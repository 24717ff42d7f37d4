import type { InfraMode } from '../infra/infra-provider.ts';
import { prepareOwner } from '@pixmesh/postgres/owner-role';
import { bootInfra } from '../infra/boot-infra.ts';
import { issueIdentities, keepIdentitiesFresh } from '../infra/identities.ts';
import { REGISTRY_READ_ONLY, REGISTRY_WRITABLE } from '../infra/registry-process.ts';
import { INFRA_SLOTS } from '../infra/infra-slots.ts';
import { OBSERVE_SLOTS } from '../observe/observe-slots.ts';
import { startObservers } from '../observe/start-observers.ts';
import { allocatePorts, type PortBlock } from '../ports/allocate-ports.ts';
import type { Progress } from '../progress.ts';
import { clearSecretFiles } from '../secret-files.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { requireConnections } from './connection-budget.ts';
import { startControlServer } from './control-server.ts';
import { givenValue, loadSettingNames, preferGiven } from './given-settings.ts';
import { loadCertificates, loadSecrets } from './mesh-secrets.ts';
import {
  acquirerVariables,
  MESH_SERVICES,
  MESH_SLOTS,
  MESH_TLS_SLOTS,
  type MeshService,
} from './mesh-services.ts';
import type { MeshSettings } from './mesh-settings.ts';
import type { Scale } from './scale.ts';
import { createScaling } from './scaling.ts';
import { seedDemoAccount } from './seed-demo-account.ts';
import { renderDeployEnvironment } from './service-environment.ts';
import { describeDeployJob, describeServiceProcess } from './service-process.ts';
import { describeStack, type StackFile, writeStackFile } from './stack-file.ts';

export interface BootMeshInput {
  supervisor: Supervisor;
  log: Progress;
  mode: InfraMode;
  scale: Scale;
  observe: boolean;
  /** Where services send traces, if anywhere. */
  otlpEndpoint: string | undefined;
}

export interface Mesh {
  stack: StackFile;
  close(): Promise<void>;
}

/** Slots of every listener of a stack. */
const ALL_SLOTS = [...INFRA_SLOTS, ...MESH_SLOTS, 'control', ...OBSERVE_SLOTS];

/**
 * Boots the whole mesh under a supervisor: infrastructure, deploy job, simulator, services, callback
 * registration, demo account. `stack.json` appears when everything is ready, and follows every
 * restart from then on.
 */
export async function bootMesh(input: BootMeshInput): Promise<Mesh> {
  const { supervisor, log } = input;
  const { home } = supervisor;
  await using resources = new AsyncDisposableStack();
  const ports = await allocatePorts(ALL_SLOTS, { keepIn: supervisor.home, log });
  resources.defer(ports.release);
  const settings = await prepareSettings(input, ports);
  // Asked again by each change of the scale; here before anything is started in vain.
  await requireConnections(input.scale, settings.infra.postgresUrl);
  resources.use(
    keepIdentitiesFresh(supervisor.home, (error) => {
      log.line(`certificates not renewed: ${(error as Error).message}`);
    }),
  );
  const deploy = () =>
    step(log, 'deploy job (migrations, topics, schemas)', () =>
      supervisor.run(
        describeDeployJob({ home, name: 'deploy' }, [], renderDeployEnvironment(settings)),
      ),
    );
  await deploy();
  await Promise.all([startServices(input, settings), closeRegistry(input)]);
  const scaling = createScaling({ supervisor, settings, log });
  resources.defer(scaling.close);
  await scaling.scaleTo(input.scale);
  const deployAgain = async () => {
    await openRegistry(input);
    await deploy();
    await closeRegistry(input);
  };
  const commanded = { supervisor, scaling, deployAgain };
  const control = await startControlServer(commanded, ports.of('control'));
  resources.defer(control.close);
  const observers = input.observe ? await startObservers({ supervisor, ports }) : null;
  const [demo] = await Promise.all([
    seedDemoAccount({ home: supervisor.home, log, settings }),
    registerCallback(input, settings),
  ]);
  const stack = () =>
    describeStack({
      settings,
      demo,
      furtherUrls: { internal: scaling.internalUrls(), failpoints: scaling.failpointUrls() },
      pids: supervisor.pids(),
      observers,
    });
  const write = () => {
    const written = stack();
    writeStackFile(supervisor.home, written);
    observers?.follow(written.internal_urls);
  };
  supervisor.onChange(() => {
    if (!supervisor.isStopping) write();
  });
  write();
  const kept = resources.move();
  return { stack: stack(), close: () => kept.disposeAsync() };
}

async function prepareSettings(input: BootMeshInput, ports: PortBlock): Promise<MeshSettings> {
  const { supervisor } = input;
  const secrets = loadSecrets(supervisor.home, {
    schemas: MESH_SERVICES.map((one) => one.schema),
  });
  // What was rotated in them is among the secrets now.
  clearSecretFiles(supervisor.home);
  const certificates = await loadCertificates(supervisor.home, secrets, new Date());
  await issueIdentities(supervisor.home);
  const infra = await bootInfra({ ...input, home: supervisor.home, portOf: ports.of });
  await prepareOwner({
    adminUrl: infra.postgresUrl,
    password: secrets.ownerDatabasePassword,
    schemas: MESH_SERVICES.map((one) => one.schema),
  });
  return {
    home: supervisor.home,
    infra,
    // The seed of the demo and `stack.json` name it too.
    secrets: { ...secrets, adminToken: givenValue('ADMIN_BOOTSTRAP_TOKEN') ?? secrets.adminToken },
    certificates,
    settingNames: new Map(await Promise.all(MESH_SERVICES.map(namesOf))),
    otlpEndpoint: input.otlpEndpoint,
    portOf: ports.of,
    origin: (slot) => `${schemeOf(slot)}://127.0.0.1:${ports.of(slot)}`,
  };
}

async function namesOf({ name }: MeshService): Promise<[string, readonly string[]]> {
  return [name, await loadSettingNames(name)];
}

/** Nobody but the deploy job writes schemas. Services read them from their own databases and wait for none of this. */
async function closeRegistry({ log, supervisor }: BootMeshInput): Promise<void> {
  // One that is given is not ours to restart.
  if (!supervisor.names().includes('registry')) return;
  await step(log, 'registry, read-only', () => supervisor.restart('registry', REGISTRY_READ_ONLY));
}

async function openRegistry({ supervisor }: BootMeshInput): Promise<void> {
  if (!supervisor.names().includes('registry')) return;
  await supervisor.restart('registry', REGISTRY_WRITABLE);
}

async function startServices(
  { log, supervisor }: BootMeshInput,
  settings: MeshSettings,
): Promise<void> {
  const start = (service: MeshService) =>
    step(log, service.name, () => supervisor.start(describeServiceProcess(service, settings)));
  for (const wave of [0, 1]) {
    await Promise.all(MESH_SERVICES.filter((service) => service.wave === wave).map(start));
  }
}

function registerCallback(input: BootMeshInput, settings: MeshSettings): Promise<void> {
  const own = {
    ...acquirerVariables(settings),
    CALLBACK_URL: settings.origin('callback'),
    CALLBACK_SECRET: settings.secrets.callbackSecret,
  };
  const given = preferGiven(own, [...Object.keys(own), 'CALLBACK_TLS_CA']);
  const env = { ...given, NODE_ENV: 'development' };
  const { home } = input.supervisor;
  return step(input.log, 'callback registered at the acquirer', () =>
    input.supervisor.run(describeDeployJob({ home, name: 'deploy-callback' }, ['callback'], env)),
  );
}

/** Calls between services are mutual TLS, and callbacks where the gateway is given a certificate for them. */
function schemeOf(slot: string): 'http' | 'https' {
  if (MESH_TLS_SLOTS.has(slot)) return 'https';
  const { CALLBACK_TLS_CERT: cert, CALLBACK_TLS_CERT_FILE: file } = process.env;
  return slot === 'callback' && (cert || file) ? 'https' : 'http';
}

/** Runs one step of the boot and tells how long it took. */
async function step(log: Progress, what: string, work: () => Promise<void>): Promise<void> {
  const since = performance.now();
  await log.waiting(what, work());
  log.line(`${what}: ready (${((performance.now() - since) / 1000).toFixed(1)} s)`);
}
