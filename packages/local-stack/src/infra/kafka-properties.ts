/**
 * One node. The voters are given by configuration and not written into the storage, because the
 * ports change from run to run. Internal topics default to three replicas and would never be
 * available here.
 */
export function renderKafkaProperties(input: {
  port: number;
  controllerPort: number;
  logs: string;
}): string {
  const broker = `127.0.0.1:${input.port}`;
  const controller = `127.0.0.1:${input.controllerPort}`;
  return render({
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@${controller}`,
    'controller.listener.names': 'CONTROLLER',
    listeners: `PLAINTEXT://${broker},CONTROLLER://${controller}`,
    'advertised.listeners': `PLAINTEXT://${broker}`,
    'log.dirs': input.logs,
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
  });
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
