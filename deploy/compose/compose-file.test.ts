import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { DASHBOARDS } from '../observability/src/dashboards.ts';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

type Container = {
  image: string;
  profiles?: string[];
  networks?: string[];
  cap_drop: string[];
  security_opt: string[];
  read_only: boolean;
  cpus: number;
  mem_limit: string;
  pids_limit: number;
  ports?: string[];
  volumes?: unknown[];
  environment?: Record<string, string>;
};
type PrometheusFile = {
  rule_files: string[];
  scrape_configs: { dns_sd_configs: { names: string[]; port: number }[] }[];
};

const ROOT = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
const { services } = parse(read('docker-compose.yml'), { merge: true }) as {
  services: Record<string, Container>;
};
const containers = Object.entries(services);
/** Mounts by files and folders; those with more to say are secrets. */
const mountsOf = ({ volumes = [] }: Container) =>
  volumes.filter((one): one is string => typeof one === 'string').map((one) => one.split(':'));
const observers = containers.filter(([, one]) => one.profiles?.includes('observability'));

test('every container runs without capabilities and new privileges, on a read-only root, within limits', () => {
  expect(containers.length).toBeGreaterThan(15);
  const soft = containers.filter(
    ([, one]) =>
      one.cap_drop.join(',') !== 'ALL' ||
      !one.security_opt.includes('no-new-privileges:true') ||
      !one.read_only ||
      !(one.cpus > 0 && one.pids_limit > 0 && one.mem_limit),
  );
  expect(soft.map(([name]) => name)).toEqual([]);
});

/** What `charges`, the largest, was measured to need under load (docs/adr/0044). */
const MEASURED_MIB = 366e6 / 2 ** 20;

test('a service is not ended at the memory that it was measured with', () => {
  const ours = containers.filter(([, { image }]) =>
    /^pixmesh\/(gateway|charges|payouts|ledger|webhook-dispatcher)\b/.test(image),
  );
  expect(ours).toHaveLength(6);
  const tight = ours.filter(([, one]) => Number.parseInt(one.mem_limit) < 1.25 * MEASURED_MIB);
  expect(tight.map(([name]) => name)).toEqual([]);
});

test('ports are published on this machine alone', () => {
  const ports = containers.flatMap(([, { ports: published = [] }]) => published);
  expect(ports.length).toBeGreaterThan(5);
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
});

test('senders alone are on the network that leads out', () => {
  const leadsOut = containers.filter(([, { networks = [] }]) => networks.includes('egress'));
  expect(leadsOut.map(([name]) => name)).toEqual(['webhook-dispatcher-sender']);
});

test('the profile of observability takes its files from the repository, and cannot change them', () => {
  expect(observers.map(([name]) => name)).toEqual([
    'prometheus',
    'alertmanager',
    'grafana',
    'otel-collector',
  ]);
  const files = observers
    .flatMap(([, one]) => mountsOf(one))
    .filter(([source = '']) => source.startsWith('./'));
  expect(files.length).toBeGreaterThan(6);
  expect(files.filter(([file = '']) => !existsSync(path.join(ROOT, file)))).toEqual([]);
  expect(files.filter(([, , mode]) => mode !== 'ro')).toEqual([]);
});

test('Prometheus finds each service of the mesh where it listens, and each file of rules', () => {
  const config = parse(read('deploy/observability/compose/prometheus.yml')) as PrometheusFile;
  const [targets] = config.scrape_configs[0]?.dns_sd_configs ?? [];
  const mesh = containers.filter(([name, { environment }]) => {
    return environment?.['INTERNAL_PORT'] === String(targets?.port) && !name.includes('simulator');
  });
  expect(mesh).toHaveLength(6);
  expect(targets?.names.toSorted()).toEqual(mesh.map(([name]) => name).toSorted());
  expect(mesh.filter(([, { networks = [] }]) => !networks.includes('mesh'))).toEqual([]);
  const [[, observer]] = observers as [[string, Container]];
  expect(mountsOf(observer).map(([, file]) => file)).toEqual(
    expect.arrayContaining(config.rule_files.map((file) => `/etc/prometheus/${file}`)),
  );
});

test('Grafana has a source of data and finds every dashboard where they are mounted', () => {
  const { providers } = parse(read('deploy/observability/compose/grafana-dashboards.yml')) as {
    providers: { options: { path: string } }[];
  };
  const mounts = observers.flatMap(([, one]) => mountsOf(one));
  const [folder = ''] = mounts.find(([, target]) => target === providers[0]?.options.path) ?? [];
  const missing = DASHBOARDS.filter(
    ({ id }) => !statSync(path.join(ROOT, folder, `${id}.json`), { throwIfNoEntry: false }),
  );
  expect(folder).not.toBe('');
  expect(missing).toEqual([]);
  const { datasources } = parse(read('deploy/observability/compose/grafana-datasource.yml')) as {
    datasources: { url: string; isDefault: boolean }[];
  };
  expect(datasources).toEqual([
    expect.objectContaining({ url: 'http://prometheus:9090', isDefault: true }),
  ]);
});
