/** What a token may allow: the scopes of API Pix that are simulated, and Efí's for its own calls. */
export const SCOPES = [
  'cob.write',
  'cob.read',
  'pix.write',
  'pix.read',
  'pix.send',
  'gn.pix.send.read',
  'gn.balance.read',
  'gn.infractions.read',
  'gn.infractions.write',
  'webhook.write',
  'webhook.read',
] as const;
export type Scope = (typeof SCOPES)[number];

type Scopes = { below: string; read: Scope; write: Scope };

const ROUTES: readonly Scopes[] = [
  { below: '/v2/cob', read: 'cob.read', write: 'cob.write' },
  { below: '/v2/pix', read: 'pix.read', write: 'pix.write' },
  { below: '/v2/webhook', read: 'webhook.read', write: 'webhook.write' },
  { below: '/v2/gn/webhook', read: 'webhook.read', write: 'webhook.write' },
  { below: '/v2/gn/infracoes', read: 'gn.infractions.read', write: 'gn.infractions.write' },
  { below: '/v2/gn/saldo', read: 'gn.balance.read', write: 'gn.balance.read' },
  { below: '/v2/gn/pix/enviados', read: 'gn.pix.send.read', write: 'pix.send' },
  { below: '/v3/gn/pix', read: 'gn.pix.send.read', write: 'pix.send' },
];

/** The scope that a route asks for; null for one that nobody has given any. */
export function scopeOf(method: string, path: string): Scope | null {
  const route = ROUTES.find(({ below }) => path === below || path.startsWith(`${below}/`));
  if (route === undefined) return null;
  return method === 'GET' ? route.read : route.write;
}

/** The scopes of a request for a token: all where it names none. Null where it names one that nobody has. */
export function readScopes(text: string | null): readonly Scope[] | null {
  if (text === null) return SCOPES;
  const names = text.split(' ').filter((name) => name !== '');
  const known = SCOPES.filter((scope) => names.includes(scope));
  return known.length > 0 && known.length === new Set(names).size ? known : null;
}
