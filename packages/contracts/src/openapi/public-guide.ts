/** The text that opens the reference page: what holds on every route (specification, whole). */
export const PUBLIC_GUIDE = `
Create Pix charges (money in) and Pix payouts (money out), read balance and account, manage webhook endpoints.

Guides: [quick start](guides/merchants/quick-start.md), [receive webhooks](guides/merchants/receive-webhooks.md),
[deduplicate deliveries](guides/merchants/deduplicate-deliveries.md), [retry safely](guides/merchants/retry-safely.md),
[poll](guides/merchants/poll.md), [errors](guides/merchants/errors.md),
[money and documents](guides/merchants/money-and-documents.md), [versions and changes](guides/merchants/versioning.md).

## Conventions

- JSON in and out, under \`/v1\`. Money is an integer of cents, \`currency\` is \`BRL\`; times are ISO 8601 in UTC with
  milliseconds; ids are UUIDs.
- Every call carries the key in the header \`x-api-key\`. A key that is missing, revoked or expired gets 401, one without
  the scope of the route 403 with that scope in \`details\`.
- In optional fields of a creation \`null\` means the same as absent. Nothing is coerced: \`"100"\` is no amount. Unknown
  fields and query parameters are ignored, a repeated query parameter is refused.
- Texts hold no control characters, line feeds included, and no lone surrogates; lengths count Unicode code points.
- A body holds one JSON object of at most 64 KiB and 16 levels.
- Every answer has a header \`X-Request-Id\`.
- Keys belong on servers: there is no CORS, unless an installation lets the pages of some origins read.

## Idempotency

\`POST /v1/charges\` and \`POST /v1/payouts\` need \`Idempotency-Key\`, unique per operation and application, remembered for
ever. A repeated key returns the resource already created, as it is now, with \`Idempotent-Replayed: true\`; with another
body also \`Idempotency-Mismatch: true\`, and nothing is changed. A charge that ended \`failed\` keeps its key: a new attempt
needs a new one. Refusals that stored nothing (400, 401, 403, 422 without \`charge_id\`) leave the key free.

## Pagination

\`limit\` (1 to 100, 20 unless given) and \`starting_after\` (id of the last item of the previous page). Newest first, no
total count; continue while \`has_more\` is true.

## Errors

Every error has the body \`{code, message, details}\`. Handle \`code\`; \`message\` may change; \`details\` lists fields as dotted
paths, headers, parameters or scopes, and is empty when there is nothing to list. All faults of shape come in one answer.

On 500 or a timeout repeat the whole call with the same idempotency key. Other 4xx do not go away by repeating.

Beside the codes listed for each route: an unknown path is 404 \`NOT_FOUND\`, a known path with another method 405
\`METHOD_NOT_ALLOWED\` with \`Allow\`, a request that is no sound HTTP 400 \`VALIDATION_ERROR\`.

## Limits

v1 has no rate limit of its own. An installation may set one for an account or a key, and bounds the calls of an account
that are under way: beyond it the answer is 429 \`RATE_LIMITED\` with \`Retry-After\`, and nothing has happened. When
polling, start at 30 seconds and grow; prefer webhooks.

## Events

Every delivery is an HTTP POST with a JSON body. Any 2xx within 10 seconds counts as received; otherwise it is repeated
after 1, 5 and 15 minutes, 1, 3, 6 and 12 hours: 8 attempts. Order is not guaranteed. Discard repeats by
\`X-Webhook-Delivery\`; \`data.id\` names the resource and comes again with each of its events. When a secret exists, \`X-Webhook-Signature\` is \`sha256=\` and the
hexadecimal HMAC SHA-256 of the exact raw body.

## Versioning

The version is the path prefix. Within \`/v1\` new response fields, new enum values and new routes may appear without
notice; no field is removed or renamed, no type changes, no error code changes meaning. Ignore unknown fields and treat
unknown enum values as a generic case: in answers each of them is described as a text with the values known today.
`.trim();
