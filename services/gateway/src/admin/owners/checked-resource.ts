/** Of the answer to a status check, the resource: what the audit compares with the one that was read before. */
export function checkedResource(shown: Record<string, unknown>): object {
  const { object, resource } = shown;
  return object === 'status_check' && typeof resource === 'object' ? { ...resource } : shown;
}
