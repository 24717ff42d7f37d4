/** The path of an endpoint's URL says how its receiver behaves. */
export const RECEIVER_PATHS = {
  answers: '/answer',
  hangs: '/hang',
  slow: '/answer-after-200-ms',
} as const;
