/** What `servers` says: generators that work from a saved copy know no origin. */
export const ORIGIN_TEXT =
  'The origin that serves this document. A client that is made from a copy needs the address of its installation.';
