/** Ports that the infrastructure listens on. */
export const INFRA_SLOTS = ['postgres', 'kafka', 'kafka-controller', 'registry', 'redis'] as const;
export type InfraSlot = (typeof INFRA_SLOTS)[number];
