import { type DrillMesh, succeeded } from './drill-mesh.ts';

/** Somebody who may call `/admin` in their own name. */
export type DrillOperator = { id: string; token: string };

export async function createOperator(mesh: DrillMesh, name: string): Promise<DrillOperator> {
  const route = 'POST /admin/operators';
  const { body } = succeeded(route, await mesh.admin({ route, body: { name } }));
  return { id: String(body['id']), token: String(body['token']) };
}

/** A change that an operator makes. @throws Error where it is refused */
export async function actAs(
  mesh: DrillMesh,
  { token }: DrillOperator,
  { route, body }: { route: string; body?: object },
): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const asked = body === undefined ? { route, headers } : { route, headers, body };
  succeeded(route, await mesh.admin(asked));
}
