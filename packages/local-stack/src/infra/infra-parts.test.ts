import { expect, test } from 'vitest';
import { placeRegistry } from './containers.ts';
import { parseJavaVersion } from './find-program.ts';
import { renderContainerKafka, renderKafkaProperties } from './kafka-properties.ts';
import { parsePasswd } from './postgres-account.ts';
import { withDatabase } from './postgres-databases.ts';
import { renderStorageLogin, storageVariables } from './registry-process.ts';

test('the major version of Java is found in old and new notations', () => {
  expect(parseJavaVersion('openjdk version "17.0.15" 2025-04-15')).toBe(17);
  expect(parseJavaVersion('java version "1.8.0_392"')).toBe(8);
  expect(parseJavaVersion('openjdk version "21" 2023-09-19')).toBe(21);
  expect(parseJavaVersion('command not found')).toBeUndefined();
});

test('accounts are read from passwd, broken lines are passed over', () => {
  const text = 'root:x:0:0:root:/root:/bin/bash\n\nnobody:x:65534:65533:nobody:/:/sbin/nologin\n';
  expect(parsePasswd(text)).toEqual([
    { name: 'root', uid: 0, gid: 0 },
    { name: 'nobody', uid: 65_534, gid: 65_533 },
  ]);
});

const IDENTITY = { keystore: '/keystore.pem', truststore: '/ca.pem' };

test('Kafka listens on the loopback only, with one replica of everything', () => {
  const text = renderKafkaProperties({
    port: 1,
    controllerPort: 2,
    logs: '/logs',
    identity: IDENTITY,
  });
  const lines = text.trimEnd().split('\n');
  expect(lines).toContain('listeners=CLIENTS://127.0.0.1:1,CONTROLLER://127.0.0.1:2');
  expect(lines).toContain('auto.create.topics.enable=false');
  const factors = lines.filter((line) => line.includes('replication.factor'));
  expect(factors.length).toBeGreaterThanOrEqual(4);
  expect(factors.every((line) => line.endsWith('=1'))).toBe(true);
});

test('the container reaches itself by another listener than its clients', () => {
  const env = renderContainerKafka(19_999, IDENTITY);
  expect(env['KAFKA_ADVERTISED_LISTENERS']).toBe(
    'CLIENTS://127.0.0.1:19999,INTERNAL://localhost:19092',
  );
  expect(env['KAFKA_INTER_BROKER_LISTENER_NAME']).toBe('INTERNAL');
});

test('another database of the same server keeps user and password', () => {
  const url = withDatabase('postgres://a:b@127.0.0.1:5/postgres', 'registry');
  expect(url).toBe('postgres://a:b@127.0.0.1:5/registry');
  expect(storageVariables(url)['APICURIO_DATASOURCE_URL']).toBe(
    'jdbc:postgresql://127.0.0.1:5/registry',
  );
  expect(renderStorageLogin(url)).toBe(
    'config_ordinal=275\napicurio.datasource.username=a\napicurio.datasource.password=b\n',
  );
});

test('the registry reaches Postgres beside it, on the machine, or elsewhere', () => {
  const place = (
    databaseUrl: string,
    rest: { ownPostgres?: string; platform: NodeJS.Platform },
  ) => {
    const placed = placeRegistry({ ownPostgres: undefined, ...rest, databaseUrl, port: 7 });
    return [placed.ports?.host, placed.environment['APICURIO_DATASOURCE_URL']];
  };
  const local = 'postgres://a:b@127.0.0.1:5/x';
  const elsewhere = 'postgres://a:b@db.example.com:5/x';
  const platform = 'linux';
  expect(place(local, { ownPostgres: 'pg:5432', platform })).toEqual([
    7,
    'jdbc:postgresql://pg:5432/x',
  ]);
  expect(place(local, { platform })).toEqual([undefined, 'jdbc:postgresql://127.0.0.1:5/x']);
  expect(place(local, { platform: 'darwin' })).toEqual([
    7,
    'jdbc:postgresql://host.docker.internal:5/x',
  ]);
  expect(place(elsewhere, { platform })).toEqual([7, 'jdbc:postgresql://db.example.com:5/x']);
});
