import type { Header, Reference } from './document.ts';

export const EVERY_ANSWER: Record<string, Reference> = {
  'X-Request-Id': { $ref: '#/components/headers/RequestId' },
};

/** What the documents share under `components.headers`. */
export const SHARED_HEADERS: Record<string, Header> = {
  RequestId: {
    description: 'Identifies this call; name it when you ask for help.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
};
