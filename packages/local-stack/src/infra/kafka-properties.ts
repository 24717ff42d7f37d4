/** Said when the broker serves. */
export const KAFKA_READY_LINE = 'Kafka Server started';

/** Internal topics default to three replicas and would never be available on one node. */
const ONE_NODE = {
  'process.roles': 'broker,controller',
  'node.id': '1',
  'auto.create.topics.enable': 'false',
  'num.partitions': '1',
  'default.replication.factor': '1',
  'min.insync.replicas': '1',
  'offsets.topic.replication.factor': '1',
  'offsets.topic.num.partitions': '1',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'transaction.state.log.num.partitions': '1',
  'share.coordinator.state.topic.replication.factor': '1',
  'share.coordinator.state.topic.min.isr': '1',
  'share.coordinator.state.topic.num.partitions': '1',
  'group.initial.rebalance.delay.ms': '0',
  // After a kill -9 the broker may register again only once its old session is over.
  'broker.session.timeout.ms': '3000',
  'broker.heartbeat.interval.ms': '500',
  'log.cleaner.dedupe.buffer.size': '16777216',
};

/**
 * Nothing without a certificate of the installation's authority, and with one only what an ACL says. The deploy job
 * makes topics and ACLs; the broker is its own client.
 */
const GUARD = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'false',
  'super.users': 'User:kafka;User:deploy',
  'ssl.client.auth': 'required',
  'ssl.keystore.type': 'PEM',
  'ssl.truststore.type': 'PEM',
  // The principal is the common name. A certificate with any other subject has no rule, and no connection.
  'ssl.principal.mapping.rules': 'RULE:^CN=([a-z-]+)$/$1/',
};

/** The JVM of a laptop compiles for a quick start (`JVM_OPTIONS`), without the instructions that make AES cheap. */
const LIGHT_CIPHERS = {
  'ssl.cipher.suites': 'TLS_CHACHA20_POLY1305_SHA256,TLS_AES_256_GCM_SHA384',
};

/** The broker's own key and certificate in one file, and those whom it believes; PEM. */
type IdentityPaths = { keystore: string; truststore: string };

/**
 * `server.properties`. The voters are given here and not written into the storage, because the ports
 * change from run to run.
 */
export function renderKafkaProperties(input: {
  port: number;
  controllerPort: number;
  logs: string;
  identity: IdentityPaths;
}): string {
  const broker = `127.0.0.1:${input.port}`;
  const controller = `127.0.0.1:${input.controllerPort}`;
  return render({
    ...ONE_NODE,
    ...GUARD,
    ...LIGHT_CIPHERS,
    ...storesOf(input.identity),
    'controller.quorum.voters': `1@${controller}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'CLIENTS',
    'listener.security.protocol.map': 'CLIENTS:SSL,CONTROLLER:SSL',
    listeners: `CLIENTS://${broker},CONTROLLER://${controller}`,
    'advertised.listeners': `CLIENTS://${broker}`,
    'log.dirs': input.logs,
  });
}

/**
 * The same as variables of the container image (`log.dirs` → `KAFKA_LOG_DIRS`). The published port is
 * for clients on the machine; the broker reaches itself by a listener of its own.
 */
export function renderContainerKafka(
  publishedPort: number,
  identity: IdentityPaths,
): Record<string, string> {
  const properties = {
    ...ONE_NODE,
    ...GUARD,
    ...storesOf(identity),
    'controller.quorum.voters': '1@localhost:9093',
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'INTERNAL',
    'listener.security.protocol.map': 'CLIENTS:SSL,INTERNAL:SSL,CONTROLLER:SSL',
    listeners: 'CLIENTS://:9092,INTERNAL://localhost:19092,CONTROLLER://localhost:9093',
    'advertised.listeners': `CLIENTS://127.0.0.1:${publishedPort},INTERNAL://localhost:19092`,
  };
  return Object.fromEntries(
    Object.entries(properties).map(([name, value]) => [
      `KAFKA_${name.replaceAll('.', '_').toUpperCase()}`,
      value,
    ]),
  );
}

function storesOf({ keystore, truststore }: IdentityPaths): Record<string, string> {
  return { 'ssl.keystore.location': keystore, 'ssl.truststore.location': truststore };
}

/** To the standard output, which is the process's log file; the ready line is an INFO. */
export function renderLogging(): string {
  return render({
    'appender.out.type': 'Console',
    'appender.out.name': 'out',
    'appender.out.layout.type': 'PatternLayout',
    'appender.out.layout.pattern': '[%d] %p %m (%c)%n',
    'rootLogger.level': 'INFO',
    'rootLogger.appenderRef.out.ref': 'out',
  });
}

function render(properties: Readonly<Record<string, string>>): string {
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}
