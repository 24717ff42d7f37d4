/** Ports of what watches a stack, kept for a home whether or not it is watched. */
export const OBSERVE_SLOTS = ['prometheus', 'alertmanager'] as const;
