/** What a broker says where the right is missing, and not the topic or the moment is wrong. */
const REFUSALS = new Set([
  'TOPIC_AUTHORIZATION_FAILED',
  'GROUP_AUTHORIZATION_FAILED',
  'CLUSTER_AUTHORIZATION_FAILED',
  'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
]);

/** By name; the second is all that the library leaves of a group that may not be joined. */
const NAMES = new Set(['KafkaJSSASLAuthenticationError', 'KafkaJSGroupCoordinatorNotFound']);

/** Whether the broker answered, and does not let this client do what it asked for. */
export function isRefusedAccess(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { type } = cause as { type?: unknown };
    if (NAMES.has(cause.name)) return true;
    if (typeof type === 'string' && REFUSALS.has(type)) return true;
  }
  return false;
}
