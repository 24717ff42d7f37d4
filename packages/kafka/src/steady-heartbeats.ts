import { createRequire } from 'node:module';

/** The library's own member of a consumer group, as far as it is used here. */
type GroupMember = {
  lastRequest: number;
  memberId: string | null;
  coordinator: { heartbeat(request: object): Promise<void> } | null;
  heartbeat(options: { interval: number }): Promise<void>;
};

let isDone = false;

/**
 * kafkajs 2.2.4 sends a heartbeat when the clock is an interval beyond the last one. A clock that is set back by an
 * hour would stop them for an hour, and the broker gives the partitions of a silent member to the others. Here the step
 * costs an interval at most.
 */
export function keepHeartbeatsSteady(): void {
  if (isDone) return;
  isDone = true;
  const { prototype } = consumerGroupClass();
  const { heartbeat } = prototype;
  prototype.heartbeat = async function beat(options) {
    this.lastRequest = Math.min(this.lastRequest, Date.now());
    await heartbeat.call(this, options);
  };
}

/** It is no part of the library's interface, so a test holds the version against what is used of it. */
export function consumerGroupClass(): { prototype: GroupMember } & (new (
  options: object,
) => GroupMember) {
  const load = createRequire(import.meta.url);
  return load('kafkajs/src/consumer/consumerGroup.js') as ReturnType<typeof consumerGroupClass>;
}
