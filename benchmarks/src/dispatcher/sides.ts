/** Who delivers. Each has topics of its own, so that neither meets the other's events. */
export const TOPIC_PREFIXES = { ours: '', baseline: 'baseline.' } as const;

export type Side = keyof typeof TOPIC_PREFIXES;

/** In this order: what the baseline leaves behind is less. */
export const SIDES: readonly Side[] = ['baseline', 'ours'];
