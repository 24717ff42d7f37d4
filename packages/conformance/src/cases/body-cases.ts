import type { Answer } from '../client/http-client.ts';
import { it, type Observe, type ObservedCase } from '../suite/case.ts';
import { bodyWith } from '../world/api-client.ts';
import { CUSTOMER } from '../world/merchant.ts';
import { type ErrorCode, refused } from '../world/refusals.ts';
import type { World } from '../world/world.ts';

/** Addresses that no installation may deliver to. */
export const PRIVATE_URLS = [
  ['localhost', 'http://localhost/hook'],
  ['loopback', 'http://127.0.0.1/hook'],
  ['loopback-ipv6', 'http://[::1]/hook'],
  ['private-10', 'http://10.1.2.3/hook'],
  ['private-172', 'https://172.16.0.9/hook'],
  ['private-192', 'http://192.168.0.10:8080/hook'],
  ['link-local', 'http://169.254.169.254/latest'],
  ['link-local-ipv6', 'http://[fe80::1]/hook'],
  ['ftp', 'ftp://hooks.example.com/hook'],
  ['file', 'file:///etc/passwd'],
  ['no-url', 'hooks.example.com'],
] as const;

type Post = (world: World, changes: object) => Promise<Answer>;

/** Cases of a body that is valid but for one field. Their ids begin with the field, and so do their sentences. */
export function bodyCases(post: Post, whereAccepted: Observe) {
  const accepts = (id: string, note: string, value: unknown): ObservedCase =>
    whereAccepted(id, sentenceOf(id, note), async (w) => {
      bodyWith(await post(w, changesOf(id, value)), 201);
    });
  const refuses = (
    id: string,
    note: string,
    [value, code, details]: readonly [unknown, ErrorCode, string[]?],
  ): ObservedCase =>
    it(id, sentenceOf(id, note), async (w) => {
      refused(await post(w, changesOf(id, value)), code, details);
    });
  /** A fault of shape: `details` names the field and nothing else. */
  const misshapen = (id: string, note: string, value: unknown): ObservedCase =>
    refuses(id, note, [value, 'VALIDATION_ERROR', [fieldOf(id)]]);
  return {
    accepts,
    refuses,
    misshapen,
    /** `webhook_url` and the secret that belongs to it. */
    webhookCases: [
      ...['http', 'https'].map((scheme) =>
        accepts(`webhook_url.${scheme}`, 'http or https', `${scheme}://${PUBLIC_PLACE}`),
      ),
      ...PRIVATE_URLS.map(([id, url]) =>
        refuses(`webhook_url.not-${id}`, `http(s), public host; not ${url}`, [
          url,
          'INVALID_WEBHOOK_URL',
        ]),
      ),
      misshapen('webhook_url.string', 'string', 7),
      accepts('webhook_secret', 'may be given', 'segredo'),
      misshapen('webhook_secret.string', 'string', 7),
    ],
  };
}

const PUBLIC_PLACE = 'hooks.receiver.example.com/conformance';

/** `customer.name.required` is about `customer.name`, `method.pix` about `method`. */
function fieldOf(id: string): string {
  const parts = id.split('.');
  return parts.slice(0, parts[0] === 'customer' ? 2 : 1).join('.');
}

function sentenceOf(id: string, note: string): string {
  return `\`${fieldOf(id)}\`: ${note}`;
}

function changesOf(id: string, value: unknown): object {
  const [group = '', name] = fieldOf(id).split('.');
  if (name !== undefined) return { [group]: { ...CUSTOMER, [name]: value } };
  return group === 'webhook_secret' && typeof value === 'string'
    ? { webhook_url: `https://${PUBLIC_PLACE}`, webhook_secret: value }
    : { [group]: value };
}
