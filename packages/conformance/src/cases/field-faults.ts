import type { Refusal } from '../world/refusals.ts';

/** A fault of shape in one field: `details` names it and nothing else. */
export function shapeFault(field: string): Refusal {
  return { status: 400, code: 'VALIDATION_ERROR', details: [field] };
}

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
