import { TOPICS } from '@pixmesh/contracts/topics';

/** The labels of a counter by topic, for each that is known. */
export const TOPIC_LABELS = Object.values(TOPICS).map((topic) => ({ topic }));
